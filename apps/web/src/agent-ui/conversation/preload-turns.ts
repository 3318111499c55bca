import { warmMarkdown } from "../markdown/markdown";

export const loadTurns = () => import("./turn-list");

/** Fetches what it takes to draw a turn. Called where one is about to come: a new thread's page has none to show. */
export function warmTurns(): void {
  void loadTurns();
  warmMarkdown();
}
