"use client";

import { type ReactNode, useId, useState } from "react";
import { CopyButton } from "../design/copy-button";
import { LogList } from "./log-list";
import styles from "./log-pane.module.css";
import type { LogRow } from "./log-row";
import { useFilteredLog } from "./use-filtered-log";

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
  readonly emptyWords: string;
}

/** One reading of the log: what of it is shown, and the list. */
export function LogPane(props: LogPaneProps): ReactNode {
  const { title, source, types, search, opened, onOpen, emptyWords } = props;
  const [type, setType] = useState<string>();
  const [chosen, setChosen] = useState<number>();
  const shown = useFilteredLog(source, { type, search });
  const id = useId();
  const rowAt = (index: number) => source.rowAt(shown.placeOf(index));

  function textOfShown(): string {
    return Array.from({ length: shown.count }, (_, index) => source.lineAt(shown.placeOf(index))?.text)
      .filter((text) => text !== undefined)
      .join("\n");
  }

  return (
    <section className={styles.pane} aria-labelledby={`${id}-title`}>
      <header className={styles.head}>
        <h2 id={`${id}-title`} className={styles.title}>
          {title}
        </h2>
        <span className={styles.count}>{countWords(shown.count, source.count)}</span>
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
          // Moving on with an entry open opens the next: that is how one reads a log.
          if (opened) onOpen(rowAt(index));
        }}
        onOpen={(index) => onOpen(rowAt(index))}
        onEscape={() => onOpen(undefined)}
        relatedSeq={opened?.seq}
        empty={source.count === 0 ? emptyWords : "No entry matches. Clear the filter or the search."}
      />
    </section>
  );
}

function countWords(shown: number, all: number): string {
  const words = new Intl.NumberFormat("en");
  return shown === all ? words.format(all) : `${words.format(shown)} of ${words.format(all)}`;
}
