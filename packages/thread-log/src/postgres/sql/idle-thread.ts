import { SAME_THREAD } from "./fragments.js";

/**
 * Locks the thread's row, under which every run starts (`start_run`). Gives no row where something else holds it: a change of
 * the thread has the right of way.
 */
export function lockThreadStatement(schema: string): string {
  return `select 1 from ${schema}.threads where ${SAME_THREAD} for update skip locked`;
}

/** Locks nothing. A statement after the lock: what it sees must be no older. */
export function openRunStatement(schema: string): string {
  return `select 1 from ${schema}.runs where ${SAME_THREAD} and status in ('running', 'queued') limit 1`;
}
