"use client";

import { type KeyboardEvent, type ReactNode, useMemo } from "react";
import { FailureDetail } from "../conversation/calls/failure-detail";
import { IconButton } from "../design/button";
import { CopyButton } from "../design/copy-button";
import styles from "./entry-detail.module.css";
import { failureIn } from "./failure-in";
import type { LogRow } from "./log-row";

interface EntryDetailProps {
  readonly row: LogRow;
  readonly onClose: () => void;
}

/** One entry as its JSON. */
export function EntryDetail({ row, onClose }: EntryDetailProps): ReactNode {
  const pretty = useMemo(() => prettyJson(row.text), [row.text]);
  const failure = useMemo(() => failureIn(row.text), [row.text]);
  function leave(event: KeyboardEvent): void {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    onClose();
  }
  return (
    <section className={styles.detail} aria-label={`Entry ${row.seq ?? ""} ${row.type}`} onKeyDown={leave}>
      <header className={styles.head}>
        <h2 className={styles.title}>{row.type}</h2>
        <CopyButton label="Copy JSON" text={() => pretty} />
        <IconButton icon="close" label="Close the entry" onClick={onClose} />
      </header>
      {row.cursor !== undefined && (
        <p className={styles.cursor}>
          <span className={styles.cursorLabel}>Cursor</span>
          <code>{row.cursor}</code>
        </p>
      )}
      {failure && (
        <div className={styles.failure}>
          <FailureDetail error={failure} />
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and holds nothing that takes focus */}
      <pre className={styles.json} tabIndex={0}>
        {pretty}
      </pre>
    </section>
  );
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}
