"use client";

import { useCallback } from "react";
import { useKeptText } from "./use-kept-text";

/** Whether something is open, remembered by this browser. */
export function useKeptFlag(name: string): readonly [isOn: boolean, set: (isOn: boolean) => void] {
  const [text, setText] = useKeptText(`throughline:${name}`);
  const set = useCallback((next: boolean) => setText(next ? "1" : "0"), [setText]);
  return [text === "1", set];
}
