import { preloadMarkdown } from "../markdown/markdown";

export const loadTurns = () => import("./turn-list");

/** Preloads the code that renders a turn. Called where one is expected soon: the page of a new thread has none to show. */
export function preloadTurns(): void {
  void loadTurns();
  preloadMarkdown();
}
