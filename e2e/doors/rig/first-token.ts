import { randomUUID } from "node:crypto";
import { sseEvents } from "../../../packages/langgraph-server/src/testing/sse-events.js";
import { agentRoutes, said } from "../../server/rig/agent-routes.js";

/** Milliseconds from a message in a new thread to the first token of its answer. */
export async function firstTokenMs(url: string, account: string): Promise<number> {
  const startedAt = performance.now();
  const input = { threadId: randomUUID(), messages: [said(randomUUID(), "Hello")] };
  const answer = await agentRoutes(url).run("chat", input, { "x-throughline-account": account });
  let first: number | undefined;
  for await (const { data } of sseEvents(answer)) {
    if (data.type === "TEXT_MESSAGE_CONTENT") first ??= performance.now() - startedAt;
  }
  if (first === undefined) throw new Error("No token came.");
  return first;
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
