import { isDeepStrictEqual } from "node:util";
import type { EnvelopeOf, JsonObject } from "@throughline/ai-core";
import { currentMessages, type ThreadFold } from "@throughline/reading";

/**
 * Whether a client that starts a run lacks something of the thread it runs on: a message another device wrote, or the state
 * that the run's deltas will be about. What it holds beyond that is its own business.
 */
export function knowsLess(
  holds: { readonly messageIds: readonly string[]; readonly state: JsonObject },
  before: ThreadFold,
  start: EnvelopeOf<"run_start">,
): boolean {
  const held = new Set([...holds.messageIds, ...start.payload.input.messages.map(({ id }) => id)]);
  const lacksMessage = currentMessages(before).some(
    ({ id, subagent_id, bare }) => subagent_id === undefined && !bare && !held.has(id),
  );
  return (
    lacksMessage ||
    Object.entries(before.state).some(([key, value]) => !isDeepStrictEqual(holds.state[key], value))
  );
}
