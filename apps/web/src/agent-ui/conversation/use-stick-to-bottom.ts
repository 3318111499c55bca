"use client";

import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** Distance from the end, in pixels, that counts as being at the end. */
const NEAR = 48;

interface StickToBottom {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly content: RefObject<HTMLDivElement | null>;
  readonly isAtEnd: boolean;
  jump(): void;
  /** Stops following, as when a reader scrolls up. */
  release(): void;
}

/** Follows content added at the end until the reader scrolls up; then the scroll position stays. */
export function useStickToBottom(): StickToBottom {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const lastTop = useRef(0);
  const [isAtEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    box.scrollTop = box.scrollHeight;
    lastTop.current = box.scrollTop;
  }, []);

  useLayoutEffect(toEnd, [toEnd]);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner) return;
    const follow = () => {
      if (follows.current) toEnd();
    };
    const onScroll = () => {
      const gap = box.scrollHeight - box.scrollTop - box.clientHeight;
      // Only a person scrolls up; content that grows moves the end away without moving the top.
      if (box.scrollTop < lastTop.current - 1 && gap > NEAR) follows.current = false;
      else if (gap <= NEAR) follows.current = true;
      lastTop.current = box.scrollTop;
      setAtEnd(follows.current || gap <= NEAR);
    };
    const sizes = new ResizeObserver(follow);
    sizes.observe(inner);
    sizes.observe(box);
    box.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      sizes.disconnect();
      box.removeEventListener("scroll", onScroll);
    };
  }, [toEnd]);

  const jump = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    toEnd();
  }, [toEnd]);

  const release = useCallback(() => {
    follows.current = false;
    setAtEnd(false);
  }, []);

  return { scroller, content, isAtEnd, jump, release };
}
