"use client";

import { useEffect, useRef, useState } from "react";
import { linkedTurn } from "../turns/turn-anchor";
import type { Turn } from "../turns/turns";

/**
 * Brings the turn or message into sight that the address names, once it is there, and gives the turn's anchor. Called again
 * where the address changes. `onFound` is told before anything moves.
 */
export function useLinkedTurn(turns: readonly Turn[], onFound: () => void): string | undefined {
  const [named, setNamed] = useState("");
  const shown = useRef("");
  const anchor = linkedTurn(named, turns);

  useEffect(() => {
    const read = () => {
      shown.current = "";
      setNamed(location.hash.slice(1));
    };
    read();
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: with each turn that comes, it may be this one
  useEffect(() => {
    const turn = anchor === undefined || shown.current === named ? null : document.getElementById(anchor);
    if (!turn) return;
    shown.current = named;
    onFound();
    turn.scrollIntoView({ block: "start" });
    // It is drawn when it is seen, and then has another height, and its messages are there.
    const frame = requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        (document.getElementById(named) ?? turn).scrollIntoView({ block: "start" }),
      ),
    );
    return () => cancelAnimationFrame(frame);
  }, [named, anchor, turns.length]);

  return anchor;
}
