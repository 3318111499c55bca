"use client";

import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark" | "system";

const YEAR_S = 31_536_000;
const listeners = new Set<() => void>();

/** Sets the theme in a cookie, so that the server's first paint has it; `system` has none. */
export function setTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  const age = theme === "system" ? 0 : YEAR_S;
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in half of the browsers
  document.cookie = `throughline_theme=${theme}; path=/; max-age=${age}; samesite=lax`;
  for (const listener of listeners) listener();
}

/** Returns the theme that is not shown right now. */
export function oppositeTheme(): Theme {
  return isDarkNow() ? "light" : "dark";
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, readTheme, () => "system");
}

function readTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === "light" || theme === "dark" ? theme : "system";
}

function isDarkNow(): boolean {
  const theme = readTheme();
  return theme === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : theme === "dark";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
