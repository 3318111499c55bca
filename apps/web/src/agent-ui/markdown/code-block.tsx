"use client";

import { memo, type ReactNode, useEffect, useState } from "react";
import { CopyButton } from "../primitives/copy-button";
import styles from "./code-block.module.css";
import type { Piece } from "./highlight";

interface CodeBlockProps {
  readonly code: string;
  readonly language: string;
  /** Still streaming. Highlighting waits for the end: a growing block would be parsed again with each token. */
  readonly isGrowing: boolean;
}

export const CodeBlock = memo(function CodeBlock({ code, language, isGrowing }: CodeBlockProps): ReactNode {
  const lines = useHighlight(code, language, isGrowing);
  return (
    <figure className={styles.block}>
      <figcaption className={styles.caption}>
        <span>{language || "text"}</span>
        <CopyButton text={() => code} label="Copy the code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: code that is wider than the column scrolls by keyboard */}
      <pre className={styles.code} tabIndex={0}>
        <code>{lines ? lines.map(drawLine) : code}</code>
      </pre>
    </figure>
  );
});

function drawLine(line: readonly Piece[], at: number): ReactNode {
  return (
    <span key={at}>
      {at > 0 && "\n"}
      {line.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces of a line have no other key
        <span key={index} className={styles[piece.type]}>
          {piece.value}
        </span>
      ))}
    </span>
  );
}

/** Highlights code. The highlighter is loaded with the first code block: most threads have none. */
function useHighlight(
  code: string,
  language: string,
  isGrowing: boolean,
): readonly (readonly Piece[])[] | undefined {
  const [drawn, setDrawn] = useState<{ code: string; lines: readonly (readonly Piece[])[] }>();
  useEffect(() => {
    if (isGrowing || language === "") return;
    let isLeft = false;
    import("./highlight").then(
      ({ highlight }) => {
        const lines = highlight(code, language);
        if (!isLeft && lines) setDrawn({ code, lines });
      },
      // Without the highlighter, code is shown plain.
      () => {},
    );
    return () => {
      isLeft = true;
    };
  }, [code, language, isGrowing]);
  return drawn?.code === code ? drawn.lines : undefined;
}
