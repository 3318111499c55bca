import { randomUUID } from "node:crypto";
import {
  readEvents,
  type SseEvent,
  sseEvents,
} from "../../../packages/langgraph-server/src/testing/sse-events.js";
import { signToken } from "../../../scripts/containers/sign-token.mjs";
import { agentRoutes } from "../../server/rig/agent-routes.js";

export const ACCOUNT = "acme";

export interface RunAsked {
  readonly stateKey: string;
  readonly text: string;
  readonly runId?: string;
  readonly requestId?: string;
  readonly traceId?: string;
}

/** A caller of `POST /runs` who signs in with a token, as another backend does. */
export function callerOf(secret: string) {
  const token = signToken({ secret, account: ACCOUNT, now: Date.now() });
  const headers = { authorization: `Bearer ${token}` };

  function start(url: string, { stateKey, text, ...ids }: RunAsked): Promise<Response> {
    const body = {
      accountId: ACCOUNT,
      runId: randomUUID(),
      stateKey,
      model: "cheap",
      messages: [{ role: "user", content: text }],
      requestId: randomUUID(),
      traceId: randomUUID(),
      ...ids,
    };
    return fetch(`${url}/runs`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  }

  return {
    token,
    start,
    /** A run to its end. */
    async run(url: string, asked: RunAsked): Promise<{ status: number; events: SseEvent[] }> {
      const response = await start(url, asked);
      return { status: response.status, events: await readEvents(response) };
    },
    /** A run up to its first text, which then goes on without this reader. */
    async begin(url: string, asked: RunAsked): Promise<void> {
      for await (const { data } of sseEvents(await start(url, asked))) if (data.type === "text_delta") return;
      throw new Error("The run ended before it said anything.");
    },
    /** The texts of a thread's messages, in order, with who said them. */
    async messages(url: string, threadId: string): Promise<string[]> {
      const response = await agentRoutes(url).connect("chat", { threadId }, headers);
      const snapshot = (await readEvents(response)).findLast(({ data }) => data.type === "MESSAGES_SNAPSHOT");
      const list = Array.isArray(snapshot?.data.messages) ? snapshot.data.messages : [];
      return list.map(({ role, content }) => `${role}: ${content}`);
    },
    /** A thread's log, to its end. */
    async envelopes(url: string, threadId: string): Promise<Record<string, unknown>[]> {
      const response = await agentRoutes(url).events("chat", threadId, "?follow=false", headers);
      return (await readEvents(response)).map(({ data }) => data);
    },
  };
}

/** What the upstream says to `tokens=N`. */
export const wordsOf = (tokens: number) =>
  Array.from({ length: tokens }, (_, index) => `w${index}`).join(" ");
