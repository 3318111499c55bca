"use client";

import { type RefObject, useRef } from "react";
import { useShortcut } from "../console/use-shortcut";

/** A row of calls to decide on, or a card that has none. */
const STOPS = "fieldset[tabindex], article:not(:has(fieldset[tabindex]))";

/** `j` and `k` go from question to question. Behind an answered one, `j` goes to the one that took its place. */
export function useQuestionKeys(list: RefObject<HTMLElement | null>): void {
  const last = useRef(-1);

  function go(step: 1 | -1): void {
    const stops = [...(list.current?.querySelectorAll<HTMLElement>(STOPS) ?? [])];
    const here = stops.findIndex((stop) => stop.contains(document.activeElement));
    const next = here >= 0 ? here + step : step > 0 ? Math.max(last.current, 0) : last.current - 1;
    const at = Math.min(Math.max(next, 0), stops.length - 1);
    last.current = at;
    stops[at]?.focus();
    stops[at]?.scrollIntoView({ block: "nearest" });
  }

  useShortcut("j", "Next question", () => go(1));
  useShortcut("k", "Previous question", () => go(-1));
}
