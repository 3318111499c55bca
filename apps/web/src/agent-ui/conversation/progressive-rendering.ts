"use client";

import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { linkedTurn } from "./anchors";
import type { Turn } from "./turns";

/** Number of turns rendered at once: most of a window. More would cause a noticeable delay with long messages. */
const FIRST = 2;
/** Timeout of an idle callback: a page that receives a stream is never idle. */
const AT_LATEST_MS = 100;
/** Longest time in one idle callback: input may arrive at any moment. */
const AT_A_TIME_MS = 20;

/**
 * The index of the first turn to render. Rendering hundreds of turns at once would block the page, so the newest come at once and
 * earlier ones one by one while the page is idle. In the end all are rendered, so that the page can be searched and printed.
 */
export function useProgressiveTurns(count: number): number {
  const [from, setFrom] = useState<number>();
  const isFirst = from === undefined && count > 0;
  const now = isFirst ? Math.max(0, count - FIRST) : (from ?? 0);
  if (isFirst) setFrom(now);
  const isWhole = now === 0;

  // biome-ignore lint/correctness/useExhaustiveDependencies: once started, it continues by itself until all are rendered
  useEffect(() => {
    if (isWhole) return;
    let next = now;
    return eachIdle(() => {
      next = Math.max(0, next - 1);
      // Synchronous, so that its time counts against the remaining idle time.
      flushSync(() => setFrom(next));
      return next > 0;
    });
  }, [isWhole]);
  return now;
}

/** Runs as many steps as fit into each idle period, until a step returns false. */
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

/** Whether an element that the browser skipped off screen (`content-visibility`) has been visible since `isAsked`. */
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
 * Scrolls to the turn or message that the URL fragment names, once it exists, and returns the turn's anchor. Repeats when the
 * fragment changes. `onFound` is called before anything scrolls.
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: each new turn may be the linked one
  useEffect(() => {
    const turn = anchor === undefined || shown.current === named ? null : document.getElementById(anchor);
    if (!turn) return;
    shown.current = named;
    onFound();
    turn.scrollIntoView({ block: "start" });
    // A turn renders when it is visible; only then it has its final height and its messages exist.
    const frame = requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        (document.getElementById(named) ?? turn).scrollIntoView({ block: "start" }),
      ),
    );
    return () => cancelAnimationFrame(frame);
  }, [named, anchor, turns.length]);

  return anchor;
}
