import type { Json, LogEntry } from "@throughline/ai-core";
import { deriveThreadId } from "@throughline/ai-core";
import type { GraphProvider, GraphSource } from "@throughline/graph-executor";
import { createHandler, createService, devCaller, threadAddress } from "@throughline/langgraph-server";
import { z } from "zod";
import { readEvents } from "../../packages/langgraph-server/src/testing/sse-events.js";
import {
  applyWithStockClient,
  type ClientView,
} from "../../packages/stream-adapter/src/testing/stock-client.js";
import { serveHandler } from "../in-process/serve-handler.js";
import type { GalleryEntry, Turn } from "./gallery.js";
import { messageId } from "./plain-graph.js";

export type Event = Readonly<Record<string, unknown>>;

/** One turn as an AG-UI client sees it live, and as the thread's log holds it. */
export interface ServedTurn {
  readonly events: readonly Event[];
  readonly view: ClientView;
  /** Of this turn's run. */
  readonly entries: readonly LogEntry[];
}

export interface ServedThread {
  readonly threadName: string;
  readonly turns: readonly ServedTurn[];
  /** A page opened after the last run. */
  readonly reload: ClientView;
  readonly state: ThreadState;
}

const interruptSchema = z.object({ interrupt_id: z.string(), value: z.unknown() });
const stateSchema = z.looseObject({
  values: z.record(z.string(), z.unknown()),
  next: z.array(z.string()),
  interrupts: z.array(interruptSchema),
});
export type ThreadState = z.infer<typeof stateSchema>;

/** A service that serves the gallery, spoken to over HTTP. */
export interface GalleryClient {
  post(path: string, body: object): Promise<Response>;
  /** The responses to a turn's open interrupts, by their ids. */
  answersOf(entry: GalleryEntry, threadName: string, turn: Turn): Promise<[string, Json][]>;
  /** Runs all turns of an entry in one thread. `entriesSince` reads the thread's log, where the caller can. */
  run(
    entry: GalleryEntry,
    line: "0.0" | "1.0",
    entriesSince?: (threadName: string, known: number) => Promise<readonly LogEntry[]>,
  ): Promise<ServedThread>;
}

export function galleryClient(url: string): GalleryClient {
  async function post(path: string, body: object): Promise<Response> {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  async function stateOf(agent: string, threadName: string): Promise<ThreadState> {
    const response = await fetch(`${url}/agents/${agent}/threads/${encodeURIComponent(threadName)}/state`);
    if (response.status === 404) return { values: {}, next: [], interrupts: [] };
    if (!response.ok) throw new Error(`state: ${response.status} ${await response.text()}`);
    return stateSchema.parse(await response.json());
  }

  async function answersOf(entry: GalleryEntry, threadName: string, turn: Turn) {
    if (!("answer" in turn)) return [];
    const { interrupts } = await stateOf(entry.name, threadName);
    return interrupts.map(({ interrupt_id, value }): [string, Json] => [interrupt_id, turn.answer(value)]);
  }

  return {
    post,
    answersOf,
    async run(entry, line, entriesSince = async () => []) {
      const threadName = `gallery ${line} ${entry.name}`;
      const route = `/api/copilotkit/agent/${entry.name}`;
      const common = { threadId: threadName, ...(line === "1.0" && { protocolVersion: "1.0" }) };
      const turns: ServedTurn[] = [];
      let [messages, state, known]: [readonly object[], unknown, number] = [[], {}, 0];
      for (const [index, turn] of entry.turns.entries()) {
        const answers = await answersOf(entry, threadName, turn);
        const said =
          "say" in turn ? [{ id: messageId(entry.name, index), role: "user", content: turn.say }] : [];
        const response = await post(`${route}/run`, {
          ...common,
          runId: `${threadName} ${index}`,
          messages: [...messages, ...said],
          state: "state" in turn ? turn.state : {},
          tools: [],
          context: [],
          forwardedProps: {
            throughline: {
              interrupts: "standard",
              ...("goOn" in turn && { command: { name: "ask_again" } }),
            },
          },
          ...(answers.length > 0 && {
            resume: answers.map(([interruptId, payload]) => ({ interruptId, status: "resolved", payload })),
          }),
        });
        const events = (await readEvents(response)).map(({ data }) => data);
        const view = await applyWithStockClient(line, events, { messages: [...messages, ...said], state });
        const entries = await entriesSince(threadName, known);
        known += entries.length;
        turns.push({ events, view, entries });
        ({ messages, state } = view);
      }
      const later = await readEvents(await post(`${route}/connect`, common));
      const reload = await applyWithStockClient(
        line,
        later.map(({ data }) => data),
      );
      return { threadName, turns, reload, state: await stateOf(entry.name, threadName) };
    },
  };
}

/** The whole service over the given graphs. */
export interface GalleryService {
  run(entry: GalleryEntry, line: "0.0" | "1.0"): Promise<ServedThread>;
  /** Text the AI SDK's stock reader shows last in each turn; `undefined` where the route can't send the turn. */
  chat(entry: GalleryEntry): Promise<readonly Response[] | undefined>;
  aiEvents(entry: GalleryEntry): Promise<readonly (readonly Event[])[] | undefined>;
  close(): Promise<void>;
}

export async function startGalleryService(graphs: GraphSource | GraphProvider): Promise<GalleryService> {
  const service = await createService({ store: { kind: "memory" }, graphs });
  const served = await serveHandler(createHandler({ service, caller: devCaller() }));
  const caller = { billingAccountId: "dev", virtualKeyId: "dev", traceId: "gallery" };
  const { post, answersOf, run } = galleryClient(served.url);

  async function entriesSince(entry: GalleryEntry, threadName: string, known: number) {
    const { ref } = threadAddress(caller, entry.name, threadName);
    const page = await service.log.read(ref, undefined, 100_000);
    if (page.kind !== "entries") throw new Error(`The log can't be read: ${page.kind}.`);
    return page.entries.slice(known);
  }

  return {
    run: (entry, line) => run(entry, line, (threadName, known) => entriesSince(entry, threadName, known)),

    async chat(entry) {
      const threadName = `gallery chat ${entry.name}`;
      if (entry.turns.some((turn) => "state" in turn || "goOn" in turn)) return undefined;
      const responses: Response[] = [];
      for (const [index, turn] of entry.turns.entries()) {
        const answers = await answersOf(entry, threadName, turn);
        const response = await post(`/api/ai-sdk/${entry.name}/chat`, {
          id: threadName,
          messages:
            "say" in turn
              ? [
                  {
                    id: messageId(entry.name, index),
                    role: "user",
                    parts: [{ type: "text", text: turn.say }],
                  },
                ]
              : [],
          ...(answers.length > 0 && {
            resume: answers.map(([interruptId, payload]) => ({ interruptId, status: "resolved", payload })),
          }),
        });
        responses.push(new Response(await response.text(), { headers: response.headers }));
      }
      return responses;
    },

    async aiEvents(entry) {
      const stateKey = `gallery runs ${entry.name}`;
      if (entry.turns.some((turn) => "state" in turn || "goOn" in turn)) return undefined;
      const turns: Event[][] = [];
      for (const [index, turn] of entry.turns.entries()) {
        const answers = await answersOf(entry, stateKey, turn);
        const response = await post("/runs", {
          accountId: "dev",
          runId: `${stateKey} ${index}`,
          stateKey,
          graphName: entry.name,
          requestId: "gallery",
          traceId: "gallery",
          ...("say" in turn
            ? { messages: [{ role: "user", content: turn.say }] }
            : { answers: Object.fromEntries(answers) }),
        });
        turns.push((await readEvents(response)).map(({ data }) => data));
      }
      return turns;
    },

    async close() {
      await service.close({ drainMs: 0 });
      await served.stop();
    },
  };
}

/** The id under which the checkpointer holds a thread. */
export function checkpointThread(graphName: string, threadName: string): string {
  return deriveThreadId({ account: "dev", graphName, threadName });
}
