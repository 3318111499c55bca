import { readEvents, type SseEvent } from "../../../packages/langgraph-server/src/testing/sse-events.js";
import { said } from "../../server/rig/agent-routes.js";
import { QUESTIONS } from "../../server/rig/questions.js";
import type { AnyMessage } from "../../server/stock/message-lines.js";

import { isTerminal } from "./viewer.js";

const AGENT = "researcher";

/** What a request needs beside its path: a real server's `fetch`, or a handler's own. */
export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** One run of the researcher on a thread of its own; the same question each time, so that all end in the same state. */
export interface ResearcherThread {
  readonly threadId: string;
  readonly runId: string;
  /** Starts the run, or attaches to it from its beginning. */
  run(ask: Ask, signal?: AbortSignal): Promise<Response>;
  /** Follows the thread from the cursor on. */
  follow(ask: Ask, cursor: string | undefined, signal?: AbortSignal): Promise<Response>;
  /** The thread's log from its first entry to the end of its run, which must be over, in the same face as its viewers'. */
  readLog(ask: Ask): Promise<readonly SseEvent[]>;
  stop(ask: Ask, signal?: AbortSignal): Promise<Response>;
  /** The run as `GET …/runs` shows it. */
  shownRun(ask: Ask): Promise<ShownRun>;
  state(ask: Ask): Promise<ShownState>;
}

export interface ShownRun {
  readonly clientRunId: string | null;
  readonly status: string;
  readonly attempt: number;
}

export interface ShownState {
  readonly messages: readonly AnyMessage[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly next: readonly string[];
}

export function researcherThread(threadId: string): ResearcherThread {
  const runId = `${threadId}-run`;
  const agent = `/api/copilotkit/agent/${AGENT}`;
  const thread = `/agents/${AGENT}/threads/${threadId}`;
  const post = (
    ask: Ask,
    path: string,
    body: object,
    { cursor, signal }: { cursor?: string | undefined; signal?: AbortSignal | undefined },
  ) =>
    ask(path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(cursor !== undefined && { "last-event-id": cursor }),
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });

  async function read(ask: Ask, path: string): Promise<unknown> {
    const response = await ask(path);
    if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  return {
    threadId,
    runId,
    run: (ask, signal) =>
      post(
        ask,
        `${agent}/run`,
        { threadId, runId, messages: [said(`${threadId}-question`, QUESTIONS[AGENT])] },
        { signal },
      ),
    follow: (ask, cursor, signal) =>
      post(
        ask,
        `${agent}/connect`,
        { threadId, forwardedProps: { throughline: { follow: true } } },
        { cursor, signal },
      ),
    async readLog(ask) {
      const connect = async (cursor?: string) =>
        readEvents(await post(ask, `${agent}/connect`, { threadId }, { cursor }));
      // Clients take a cursor as it is; only here one is made up, to stand before the first entry.
      const id = (await connect()).findLast((event) => event.id !== undefined)?.id ?? "";
      const [epoch, , , face] = id.split(".");
      const log = await connect(`${epoch}.0.0.${face}`);
      // What follows is no longer the run's: the log may have been reconciled with the checkpoint.
      return log.slice(0, log.findIndex((event) => isTerminal(event, runId)) + 1);
    },
    stop: (ask, signal) => post(ask, `${agent}/stop/${threadId}`, { runId }, { signal }),
    async shownRun(ask) {
      // A parsed boundary: the route's own schema.
      const { runs } = (await read(ask, `${thread}/runs`)) as { runs: readonly ShownRun[] };
      const run = runs.find(({ clientRunId }) => clientRunId === runId);
      if (!run) throw new Error(`${threadId} has no run.`);
      return run;
    },
    // A parsed boundary: the route's own schema.
    state: async (ask) => (await read(ask, `${thread}/state`)) as ShownState,
  };
}

/** What two runs of the same question share: without random ids and times. */
export function comparableState({ messages, values, next }: ShownState): unknown {
  return {
    next,
    messages: messages.map((message) => {
      // The offline model derives its ids from what it is asked; the person's and the tools' are random.
      const { id, ...rest } = message;
      return message.role === "assistant" ? message : rest;
    }),
    values: JSON.parse(
      JSON.stringify(values, (key, value: unknown) =>
        key === "created_at" || key === "modified_at" ? undefined : value,
      ),
    ),
  };
}
