import * as z from "zod/mini";
import type { ThreadRow } from "../service/queries/threads";

/** Which threads a person has seen, and when. */
export interface SeenThreads {
  /** Whatever happened before is no news. */
  readonly since: number;
  readonly at: Readonly<Record<string, number>>;
}

type Named = Pick<ThreadRow, "agentId" | "threadName"> & Partial<Pick<ThreadRow, "visibility">>;

/** So many are remembered; what was seen longest ago is forgotten into `since`. */
const REMEMBERED = 200;

const seenSchema = z.object({ since: z.number(), at: z.record(z.string(), z.number()) });

/** What was stored, or a beginning at which nothing is unread. */
export function readSeen(stored: string | null, now: number): SeenThreads {
  try {
    return seenSchema.parse(JSON.parse(stored ?? ""));
  } catch {
    return { since: now, at: {} };
  }
}

export function isUnread(seen: SeenThreads, row: ThreadRow): boolean {
  return row.lastActivityAt > (seen.at[keyOf(row)] ?? seen.since);
}

export function markSeen(seen: SeenThreads, thread: Named, now: number): SeenThreads {
  const entries = Object.entries({ ...seen.at, [keyOf(thread)]: now }).sort(([, a], [, b]) => b - a);
  const [oldest] = entries.slice(REMEMBERED);
  return {
    since: Math.max(seen.since, oldest?.[1] ?? 0),
    at: Object.fromEntries(entries.slice(0, REMEMBERED)),
  };
}

function keyOf({ agentId, threadName, visibility }: Named): string {
  return JSON.stringify([agentId, threadName, ...(visibility === undefined ? [] : [visibility])]);
}
