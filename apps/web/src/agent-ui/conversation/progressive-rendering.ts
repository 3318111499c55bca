"use client";

import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { linkedTurn } from "./anchors";
import type { Turn } from "./turns";

/** Drawn at once: most of a window. More would be felt where answers are long. */
const FIRST = 2;
/** While a stream keeps the page busy nothing is ever idle. */
const AT_LATEST_MS = 100;
/** A page that is idle may be touched at any moment. */
const AT_A_TIME_MS = 20;

/**
 * The place of the first turn to draw. A thread of hundreds that is drawn whole holds the page up for as long as that takes; so
 * the newest turns come at once, and those before them one by one, while there is nothing better to do. In the end all are
 * there, for whoever searches the page or prints it.
 */
export function useDrawnFrom(count: number): number {
  const [from, setFrom] = useState<number>();
  const isFirst = from === undefined && count > 0;
  const now = isFirst ? Math.max(0, count - FIRST) : (from ?? 0);
  if (isFirst) setFrom(now);
  const isWhole = now === 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: once it has begun it goes on by itself until all are drawn
  useEffect(() => {
    if (isWhole) return;
    let next = now;
    return eachIdle(() => {
      next = Math.max(0, next - 1);
      // At once, so that the time it took counts against what was left.
      flushSync(() => setFrom(next));
      return next > 0;
    });
  }, [isWhole]);
  return now;
}

/** Takes as many steps as there is time for, and goes on when there is again, until a step was the last. */
function eachIdle(step: () => boolean): () => void {
  let handle = whenIdle(go);
  let isLeft = false;

  function go(timeLeft: () => number): void {
    const end = Math.max(0, timeLeft() - AT_A_TIME_MS);
    let isMore: boolean;
    let longest = 0;
    do {
      const before = timeLeft();
      isMore = step();
      longest = Math.max(longest, before - timeLeft());
    } while (isMore && !isLeft && timeLeft() - end > longest);
    if (isMore && !isLeft) handle = whenIdle(go);
  }

  return () => {
    isLeft = true;
    handle();
  };
}

function whenIdle(callback: (timeLeft: () => number) => void): () => void {
  if (typeof requestIdleCallback !== "function") {
    const timer = setTimeout(callback, 0, () => 0);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback((deadline) => callback(() => deadline.timeRemaining()), {
    timeout: AT_LATEST_MS,
  });
  return () => cancelIdleCallback(handle);
}

/** Whether an element that the browser skips out of sight has come into sight since it is asked. */
export function useIsSeen(element: RefObject<Element | null>, isAsked: boolean): boolean {
  const [isSeen, setSeen] = useState(false);
  useLayoutEffect(() => {
    if (!isAsked) return;
    const leaving = new AbortController();
    element.current?.addEventListener(
      "contentvisibilityautostatechange",
      (event) => {
        if ("skipped" in event && !event.skipped) setSeen(true);
      },
      { signal: leaving.signal },
    );
    return () => leaving.abort();
  }, [element, isAsked]);
  return isSeen;
}

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
