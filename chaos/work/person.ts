import type { Sent } from "../check/history.js";
import type { PlannedDeed } from "../plan/work-plan.js";

/** Who does the deeds of a room. */
export interface Person {
  /** Resolves when it is done, or given up because `signal` was aborted. */
  perform(deed: PlannedDeed, signal: AbortSignal): Promise<void>;
  sent(): readonly Sent[];
  /** What the graph writes down of each mutation that was accepted. */
  mutations(): readonly string[];
  /** What a page shows, one line a message, and how it is connected; missing for one that has none. */
  page?(): { readonly messages: readonly string[]; readonly connection: string };
  leave(): void;
}

/** A text that is said once in all rooms, names its account, and tells the model what to do. */
export function wordsOf(account: string, threadId: string, count: number): string {
  return `tenant-${account} in ${threadId} says number ${count}.`;
}
