"use client";

import { memo, type ReactNode, useEffect, useState } from "react";
import { CopyButton } from "../primitives/button";
import styles from "./code-block.module.css";
import type { Piece } from "./highlight";

interface CodeBlockProps {
  readonly code: string;
  readonly language: string;
  /** Colours come when the code has: a block that grows would be read anew with each token. */
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
      {line.map((piece, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the same holds for pieces of a line
        <span key={place} className={styles[piece.type]}>
          {piece.value}
        </span>
      ))}
    </span>
  );
}

/** Fetched with the first code anybody reads: most threads have none. */
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
      // Code is read without colours, too.
      () => {},
    );
    return () => {
      isLeft = true;
    };
  }, [code, language, isGrowing]);
  return drawn?.code === code ? drawn.lines : undefined;
}
