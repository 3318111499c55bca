"use client";

import { type RefObject, useLayoutEffect } from "react";

/** As high as its text, up to what the style sheet allows. */
export function useAutoGrow(area: RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew with each text
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [area, text]);
}
