"use client";

import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import styles from "./markdown.module.css";
import type { DrawnMarkdown, MarkdownProps } from "./rendered-markdown";

let drawn: typeof DrawnMarkdown | undefined;
const listeners = new Set<() => void>();

/** Fetches the parser. Called where a text is about to come: the first load of a page has none to show. */
export function warmMarkdown(): void {
  if (drawn) return;
  import("./rendered-markdown").then((module) => {
    drawn = module.DrawnMarkdown;
    for (const listener of [...listeners]) listener();
    // Text is shown as it was written then; the next one that comes tries again.
  }, ignoreFailure);
}

/** Text as Markdown; as it was written until the parser is there. */
export function Markdown(props: MarkdownProps): ReactNode {
  const Drawn = useSyncExternalStore(subscribe, readDrawn, nothing);
  useEffect(warmMarkdown, []);
  return Drawn ? <Drawn {...props} /> : <div className={styles.plain}>{props.text}</div>;
}

/** Once it is there, nothing changes any more. */
function subscribe(listener: () => void): () => void {
  if (drawn) return () => {};
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function readDrawn(): typeof DrawnMarkdown | undefined {
  return drawn;
}

function nothing(): undefined {}

function ignoreFailure(): void {}
