import { isDeepStrictEqual } from "node:util";
import type { Client } from "@langchain/langgraph-sdk";
import { type JsonObject, type StateUpdate, ThroughlineError } from "@throughline/ai-core";
import { read, readString } from "@throughline/coerce";
import { toGraphMessage } from "../messages/to-graph-message.js";
import { toGraphCheckpoint } from "./thread-checkpoint.js";

/**
 * Sets channels of a thread to what they are given, and gives the id of the last checkpoint that this made. A server does not
 * tell which channels have reducers, and takes `__overwrite__` only for those. So a value is written as it is; where another came
 * out, it is written past the reducer; and where that was stored literally, there was none, and what the channel made of the
 * plain value stands.
 */
export async function updateServerThread(
  client: Client,
  threadId: string,
  { state = {}, messages = [], asNode }: StateUpdate,
): Promise<string> {
  const { messages: _, ...values } = state;

  async function write(update: object): Promise<string> {
    const answer: unknown = await client.threads.updateState(threadId, {
      values: update,
      ...(asNode !== undefined && { asNode }),
    });
    // The SDK's type says `configurable`; the servers answer with `checkpoint`.
    const checkpoint = read(answer, "checkpoint") ?? read(answer, "configurable");
    const checkpointId = readString(checkpoint, "checkpoint_id");
    if (checkpointId === undefined) throw new ThroughlineError("internal", "The update gave no checkpoint.");
    return checkpointId;
  }

  /** Those of these values that came out otherwise. */
  async function differing(wanted: JsonObject): Promise<JsonObject> {
    const state = toGraphCheckpoint(await client.threads.getState(threadId))?.state ?? {};
    return Object.fromEntries(
      Object.entries(wanted).filter(([name, value]) => !isDeepStrictEqual(value, state[name])),
    );
  }

  const written = await write({
    ...values,
    ...(messages.length > 0 && { messages: messages.map(toGraphMessage) }),
  });
  const joined = await differing(values);
  if (Object.keys(joined).length === 0) return written;
  const overwritten = await write(
    Object.fromEntries(Object.entries(joined).map(([name, value]) => [name, { __overwrite__: value }])),
  );
  const literal = await differing(joined);
  return Object.keys(literal).length === 0 ? overwritten : write(literal);
}
