"use client";

import { useEffect, useRef, useState } from "react";

/**
 * Brings the turn into sight that the address names, once it is there, and gives its anchor. Called again where the address
 * changes to another turn. `onFound` is told before anything moves.
 */
export function useLinkedTurn(turnCount: number, onFound: () => void): string | undefined {
  const [anchor, setAnchor] = useState<string>();
  const shown = useRef<string>(undefined);

  useEffect(() => {
    const read = () => {
      shown.current = undefined;
      setAnchor(location.hash.startsWith("#turn-") ? location.hash.slice(1) : undefined);
    };
    read();
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: with each turn that comes, it may be this one
  useEffect(() => {
    const turn = anchor === undefined || shown.current === anchor ? null : document.getElementById(anchor);
    if (!turn) return;
    shown.current = anchor;
    onFound();
    turn.scrollIntoView({ block: "start" });
    // It is drawn when it is seen, and then has another height.
    const frame = requestAnimationFrame(() =>
      requestAnimationFrame(() => turn.scrollIntoView({ block: "start" })),
    );
    return () => cancelAnimationFrame(frame);
  }, [anchor, turnCount]);

  return anchor;
}
