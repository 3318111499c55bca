"use client";

import { type KeyboardEvent, type ReactNode, useId, useMemo, useState } from "react";
import { FailureDetail } from "../../agent-ui/conversation/failure";
import { IconButton } from "../../agent-ui/primitives/button";
import { CopyButton } from "../../agent-ui/primitives/copy-button";
import { useFilteredLog } from "./log-filter";
import { LogList } from "./log-list";
import styles from "./log-pane.module.css";
import { failureIn, type LogRow } from "./log-row";

export interface LogSource {
  readonly generation: number;
  readonly count: number;
  lineAt(index: number): { readonly type: string; readonly text: string } | undefined;
  rowAt(index: number): LogRow | undefined;
}

interface LogPaneProps {
  readonly title: string;
  readonly source: LogSource;
  readonly types: readonly string[];
  readonly search: string;
  readonly opened: LogRow | undefined;
  readonly onOpen: (row: LogRow | undefined) => void;
  readonly emptyText: string;
}

/** One view of the log: its filter, its count and its list. */
export function LogPane(props: LogPaneProps): ReactNode {
  const { title, source, types, search, opened, onOpen, emptyText } = props;
  const [type, setType] = useState<string>();
  const [chosen, setChosen] = useState<number>();
  const shown = useFilteredLog(source, { type, search });
  const id = useId();
  const rowAt = (index: number) => source.rowAt(shown.logIndexOf(index));

  function textOfShown(): string {
    return Array.from({ length: shown.count }, (_, index) => source.lineAt(shown.logIndexOf(index))?.text)
      .filter((text) => text !== undefined)
      .join("\n");
  }

  return (
    <section className={styles.pane} aria-labelledby={`${id}-title`}>
      <header className={styles.head}>
        <h2 id={`${id}-title`} className={styles.title}>
          {title}
        </h2>
        <span className={styles.count}>{formatCount(shown.count, source.count)}</span>
        <select
          className={styles.types}
          aria-label={`Types of ${title} entries`}
          value={type ?? ""}
          onChange={(event) => {
            setType(event.target.value || undefined);
            setChosen(undefined);
          }}
        >
          <option value="">All types</option>
          {types.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <CopyButton label={`Copy ${title} as JSONL`} text={textOfShown} disabled={shown.count === 0} />
      </header>
      <LogList
        label={title}
        count={shown.count}
        rowAt={rowAt}
        chosen={chosen !== undefined && chosen < shown.count ? chosen : undefined}
        onChoose={(index) => {
          setChosen(index);
          // Moving with an entry open opens the next one, for reading through a log.
          if (opened) onOpen(rowAt(index));
        }}
        onOpen={(index) => onOpen(rowAt(index))}
        onEscape={() => onOpen(undefined)}
        relatedSeq={opened?.seq}
        empty={source.count === 0 ? emptyText : "No entry matches. Clear the filter or the search."}
      />
    </section>
  );
}

function formatCount(shown: number, all: number): string {
  const words = new Intl.NumberFormat("en");
  return shown === all ? words.format(all) : `${words.format(shown)} of ${words.format(all)}`;
}

interface EntryDetailProps {
  readonly row: LogRow;
  readonly onClose: () => void;
}

/** One entry as JSON. */
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
      <header className={styles.entryDetailHead}>
        <h2 className={styles.entryDetailTitle}>{row.type}</h2>
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
