"use client";

import { type ReactNode, useId, useState } from "react";
import { Icon } from "../design/icon";
import { Markdown } from "./markdown/markdown";
import styles from "./reasoning.module.css";

/** What the agent thought before it spoke. Folded away: it is there for whoever wonders. */
export function Reasoning({
  text,
  isGrowing,
}: {
  readonly text: string;
  readonly isGrowing: boolean;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div className={styles.reasoning} data-quiet="true">
      <button
        type="button"
        className={styles.row}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <span className={styles.chevron} data-open={isOpen}>
          <Icon name="chevronRight" size={12} />
        </span>
        <Icon name="thought" size={14} />
        <span className={isGrowing ? styles.live : undefined}>{isGrowing ? "Thinking…" : "Thought"}</span>
        {!isOpen && <span className={styles.peek}>{lastLine(text)}</span>}
      </button>
      <div id={id} hidden={!isOpen} className={styles.text}>
        {isOpen && <Markdown text={text} isGrowing={isGrowing} />}
      </div>
    </div>
  );
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(0)?.slice(0, 160) ?? "";
}
