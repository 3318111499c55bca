import { randomUUID } from "node:crypto";
import { HttpAgent as HttpAgent00 } from "@ag-ui/client";
import { HttpAgent as HttpAgent10 } from "@ag-ui/client-1";
import { createParser } from "eventsource-parser";
import type { RunParameters, StockHttpAgent, StockMessage } from "./stock-agent.js";

/** A stock `HttpAgent` whose `fetch` does what a browser's `EventSource` does: it remembers the last id, and sends it. */
export interface ReturningClient {
  readonly messages: readonly StockMessage[];
  /** Types of all events it was told, over all its connections. */
  readonly types: readonly string[];
  /** The last id it was given. */
  readonly lastEventId: string | undefined;
  say(text: string): void;
  /** `cut`: the connection broke before the run had ended. */
  run(): Promise<"ended" | "cut">;
  /** Answers the one question that is open. */
  answer(value: string): Promise<"ended" | "cut">;
  /** Comes back, here or elsewhere, with the last id it was given. */
  connect(url?: string): Promise<"ended" | "cut">;
  /** Resolves once an event of this type was told. */
  heard(type: string): Promise<void>;
}

export type AgUiVersion = "0.0.59" | "1.0.0";
export const AG_UI_LINES: readonly AgUiVersion[] = ["0.0.59", "1.0.0"];

export interface ReturningClientOptions {
  readonly url: string;
  readonly agent: string;
  readonly threadId: string;
}

export function returningClient(
  line: AgUiVersion,
  { url, agent: name, threadId }: ReturningClientOptions,
): ReturningClient {
  const types: string[] = [];
  const waiting = new Set<{ type: string; resolve: () => void }>();
  let lastEventId: string | undefined;
  let answered: RunParameters | undefined;

  async function fetchAndRemember(to: string, request: RequestInit): Promise<Response> {
    const headers = new Headers(request.headers);
    if (to.endsWith("/connect") && lastEventId !== undefined) headers.set("last-event-id", lastEventId);
    const response = await fetch(to, { ...request, headers });
    const decoder = new TextDecoder();
    const parser = createParser({
      onEvent({ id }) {
        lastEventId = id ?? lastEventId;
      },
    });
    const reader = response.body?.getReader();
    const body = new ReadableStream<Uint8Array>({
      async pull(passed) {
        // Closed and not broken, as behind a proxy: on a broken body HttpAgent leaves an unhandled rejection.
        const read = await reader?.read().catch(() => undefined);
        if (!read || read.done) return passed.close();
        parser.feed(decoder.decode(read.value, { stream: true }));
        passed.enqueue(read.value);
      },
      cancel: (why) => reader?.cancel(why),
    });
    return new Response(body, response);
  }

  const config = { url, threadId, fetch: fetchAndRemember };
  const agent: StockHttpAgent = line === "0.0.59" ? new HttpAgent00(config) : new HttpAgent10(config);
  agent.subscribe({ onEvent: ({ event }) => hear("type" in event ? String(event.type) : "") });

  async function act(
    base: string,
    action: "run" | "connect",
    parameters: RunParameters = {},
  ): Promise<"ended" | "cut"> {
    agent.url = `${base}/api/copilotkit/agent/${name}/${action}`;
    const before = types.length;
    await agent.runAgent(parameters).catch(() => {});
    const last = types.slice(before).at(-1);
    return last === "RUN_FINISHED" || last === "RUN_ERROR" ? "ended" : "cut";
  }

  /** 1.0 answers by the question's id, and refuses to come back while it holds a question that it does not answer. */
  function answerOf(value: string): RunParameters {
    const [question] = agent.pendingInterrupts ?? [];
    if (!question) return { forwardedProps: { command: { resume: value } } };
    return { resume: [{ interruptId: question.id, status: "resolved", payload: value }] };
  }

  function hear(type: string): void {
    types.push(type);
    for (const waiter of waiting) if (waiter.type === type) waiter.resolve();
  }

  return {
    get messages() {
      return agent.messages;
    },
    types,
    get lastEventId() {
      return lastEventId;
    },
    say: (text) => agent.addMessage({ id: randomUUID(), role: "user", content: text }),
    run: () => act(url, "run"),
    answer(value) {
      answered = answerOf(value);
      return act(url, "run", answered);
    },
    connect: (to = url) => act(to, "connect", answered),
    heard: (type) =>
      types.includes(type) ? Promise.resolve() : new Promise((resolve) => waiting.add({ type, resolve })),
  };
}
