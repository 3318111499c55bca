import { BaseMessage } from "@langchain/core/messages";

/** One piece of a graph's stream, asked for with several modes and subgraphs. */
export type StreamChunk = readonly [ns: readonly string[], mode: string, data: unknown];

export const STREAM_MODES = ["messages", "updates", "custom", "tasks"] as const;

/** One line of JSON, with messages in the form that LangGraph servers send. */
export function chunkAsJson([ns, mode, data]: StreamChunk): string {
  // A message's own toJSON gives LangChain's constructor form, so the holder is asked for the message before it ran.
  return JSON.stringify({ ns, mode, data }, function (this: Record<string, unknown>, key, value: unknown) {
    const original = this[key];
    return BaseMessage.isInstance(original) ? { ...original.toDict().data, type: original.type } : value;
  });
}
