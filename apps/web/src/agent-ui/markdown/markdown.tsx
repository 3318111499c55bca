"use client";

import { type ReactNode, useEffect, useSyncExternalStore } from "react";
import styles from "./markdown.module.css";
import type { MarkdownProps, RenderedMarkdown } from "./rendered-markdown";

let drawn: typeof RenderedMarkdown | undefined;
const listeners = new Set<() => void>();

/** Preloads the parser. Called where a text is expected soon: the first load of a page has none to show. */
export function preloadMarkdown(): void {
  if (drawn) return;
  import("./rendered-markdown").then((module) => {
    drawn = module.RenderedMarkdown;
    for (const listener of [...listeners]) listener();
    // On failure text is shown as written; the next message tries again.
  }, ignoreFailure);
}

/** Renders Markdown. Until the parser is loaded, the text is shown as written. */
export function Markdown(props: MarkdownProps): ReactNode {
  const Drawn = useSyncExternalStore(subscribe, readDrawn, nothing);
  useEffect(preloadMarkdown, []);
  return Drawn ? <Drawn {...props} /> : <div className={styles.plain}>{props.text}</div>;
}

/** Subscribes to the load of the parser. Nothing changes after that. */
function subscribe(listener: () => void): () => void {
  if (drawn) return () => {};
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function readDrawn(): typeof RenderedMarkdown | undefined {
  return drawn;
}

function nothing(): undefined {}

function ignoreFailure(): void {}
