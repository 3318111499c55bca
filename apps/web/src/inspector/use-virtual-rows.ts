"use client";

import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { type VirtualWindow, virtualWindow } from "./virtual-window";

export interface VirtualRows extends VirtualWindow {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly onScroll: () => void;
  /** Whether the end is in view; then it stays there while more comes. */
  readonly isAtEnd: boolean;
  reveal(index: number): void;
  toEnd(): void;
}

/** Of `count` rows, those that are seen, in an element that scrolls. */
export function useVirtualRows(count: number, rowHeight: number): VirtualRows {
  const ref = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ scrollTop: 0, height: 0 });
  const [isAtEnd, setAtEnd] = useState(true);
  const follows = useRef(true);
  const lastTop = useRef(0);

  const look = useCallback(() => {
    const element = ref.current;
    if (!element) return;
    const { scrollTop, clientHeight: height, scrollHeight } = element;
    setPlace((before) =>
      before.scrollTop === scrollTop && before.height === height ? before : { scrollTop, height },
    );
    const isEnd = scrollTop + height >= scrollHeight - rowHeight;
    // Only a person scrolls up: rows that come while a scroll is told of move the end away, and not the top.
    const wentUp = scrollTop < lastTop.current - 1;
    lastTop.current = scrollTop;
    follows.current = isEnd || (follows.current && !wentUp);
    setAtEnd(follows.current);
  }, [rowHeight]);

  const toEnd = useCallback(() => {
    follows.current = true;
    const element = ref.current;
    if (element) element.scrollTop = element.scrollHeight;
    look();
  }, [look]);

  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => (follows.current ? toEnd() : look()));
    observer.observe(element);
    // Under load Chromium tells the effect below how high the list was before: what it is now, it tells here.
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [look, toEnd]);

  // Before it is painted: a line that came must not show half and then jump.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the count that moves the end
  useLayoutEffect(() => {
    if (follows.current) toEnd();
  }, [count, toEnd]);

  const reveal = useCallback(
    (index: number) => {
      const element = ref.current;
      if (!element) return;
      const top = index * rowHeight;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + rowHeight > element.scrollTop + element.clientHeight) {
        element.scrollTop = top + rowHeight - element.clientHeight;
      }
      look();
    },
    [look, rowHeight],
  );

  return { ...virtualWindow({ ...place, rowHeight, count }), ref, onScroll: look, isAtEnd, reveal, toEnd };
}
