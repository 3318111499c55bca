"use client";

import { type ReactNode, useId, useState } from "react";
import { FoldRow } from "../../design/fold-row";
import { Icon } from "../../design/icon";
import { Markdown } from "../markdown/markdown";
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
      <FoldRow isOpen={isOpen} onToggle={() => setOpen(!isOpen)} controls={id} className={styles.row}>
        <Icon name="thought" size={14} />
        <span className={isGrowing ? styles.live : undefined}>{isGrowing ? "Thinking…" : "Thought"}</span>
        {!isOpen && <span className={styles.peek}>{firstLine(text)}</span>}
      </FoldRow>
      <div id={id} hidden={!isOpen} className={styles.text}>
        {isOpen && <Markdown text={text} isGrowing={isGrowing} />}
      </div>
    </div>
  );
}

/** Looked at with every token of a thought: never the whole of it. */
function firstLine(text: string): string {
  return text.slice(0, 160).trimStart().split("\n", 1)[0] ?? "";
}
