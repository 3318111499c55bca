import { AbstractAgent, type BaseEvent, type Message as StockMessage } from "@ag-ui/client-1";
import {
  type AgUiFrame,
  currentMessages,
  emptyProjection,
  type Projection,
  project,
  type ThreadView,
} from "@throughline/agent-client";
import type { LogEntry } from "@throughline/ai-core";
import { graphRegistry } from "@throughline/graph-executor";
import { describeGraph, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";
import { createService, type RunInput, type Service, threadAddress } from "@throughline/langgraph-server";
import {
  applyEntry,
  createAgUiEncoder,
  emptyThreadProjection,
  type ThreadProjection,
} from "@throughline/reading";
import { from, type Observable } from "rxjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { recordFrames } from "./recorded-watch.js";

const caller = { billingAccountId: "acme", virtualKeyId: "key-1", traceId: "trace-1" };
const face = createAgUiEncoder({ threadName: "plan", line: "1.0", interrupts: "standard", calls: true });

const say = (content: string): RunInput => ({
  kind: "input",
  messages: [{ id: `user ${content}`, role: "user", content }],
});
/** What to do with each graph. */
const STORIES: Readonly<Record<string, readonly RunInput[]>> = {
  chat: [say("Hello"), say("And again")],
  poet: [say("A poem about rain"), say("Another one")],
  ponderer: [say("Why is the sky blue?")],
  travel: [say("Plan a trip from Amsterdam to San Francisco"), { kind: "answer", value: "KLM" }],
  researcher: [say("What is a throughline?")],
  sentinel: [say("Status, please")],
};

let service: Service;
beforeAll(async () => {
  const keys = envKeyResolver({});
  service = await createService({
    store: { kind: "memory" },
    graphs: graphRegistry(
      LANGGRAPH_CATALOG.map((definition) => ({
        descriptor: describeGraph(definition),
        create: () => definition.create({ keys }),
      })),
    ),
  });
});
afterAll(() => service.close());

/** The log of a thread in which all this was said. */
async function logOf(graphName: string): Promise<readonly LogEntry[]> {
  const thread = threadAddress(caller, graphName, "plan");
  for (const input of STORIES[graphName] ?? []) {
    const started = await service.runs.start({
      thread,
      caller,
      ingressRequestId: "request",
      input,
      tools: [],
      context: [],
      profile: "user",
      strategy: "reject",
    });
    if (started.kind !== "started") throw new Error(`Expected a run to start, it is ${started.kind}.`);
    await recordFrames(service.hub, thread, { kind: "run", runId: started.run.runId }).ended;
  }
  const page = await service.log.read(thread.ref, undefined, 10_000);
  if (page.kind !== "entries") throw new Error(`The log cannot be read: ${page.kind}.`);
  return page.entries;
}

/** As it came over the wire. */
function wire(frames: readonly { readonly id?: string; readonly event: object }[]): AgUiFrame[] {
  return JSON.parse(JSON.stringify(frames));
}

function take(before: Projection, ...streams: (readonly AgUiFrame[])[]): Projection {
  return streams.reduce((projection, frames) => {
    const [claimed, [granted]] = project(projection, { kind: "claim", source: "detail-connect" });
    if (granted?.kind !== "granted") throw new Error("The stream was not let in.");
    const [next, effects] = project(claimed, { kind: "frames", authority: granted.authority, frames });
    // A run that began or ended is news; everything else would be a complaint.
    expect(effects.filter(({ kind }) => kind !== "run")).toEqual([]);
    return next;
  }, before);
}

function seen({ indexById: _places, open, ...view }: ThreadView) {
  return { ...view, messages: currentMessages({ indexById: _places, open, ...view }) };
}

class Replay extends AbstractAgent {
  readonly #events: BaseEvent[];

  constructor(events: BaseEvent[]) {
    super({ threadId: "plan" });
    this.#events = events;
  }

  override run(): Observable<BaseEvent> {
    return from(this.#events);
  }
}

const textOf = ({ content }: Pick<StockMessage, "content">) => JSON.stringify(content ?? "");

describe.each(Object.keys(STORIES))("the projection of %s", (graphName) => {
  let entries: readonly LogEntry[];
  let folds: readonly ThreadProjection[];
  let frames: readonly (readonly AgUiFrame[])[];
  let whole: Projection;

  beforeAll(async () => {
    entries = await logOf(graphName);
    let fold = emptyThreadProjection;
    folds = [fold, ...entries.map((entry) => (fold = applyEntry(fold, entry)))];
    frames = entries.map((entry, index) => wire(face.frames(folds[index] ?? emptyThreadProjection, entry)));
    whole = take(emptyProjection, frames.flat());
  }, 60_000);

  it("shows what a stock client shows", async () => {
    const runs: AgUiFrame[][] = [];
    for (const frame of frames.flat()) {
      if (frame.event.type === "RUN_STARTED") runs.push([]);
      runs.at(-1)?.push(frame);
    }
    let messages: StockMessage[] = [];
    let state: unknown = {};
    for (const run of runs) {
      const agent = new Replay(run.map(({ event }) => event as unknown as BaseEvent));
      agent.setMessages(messages);
      agent.setState(state);
      await agent.runAgent();
      messages = agent.messages;
      state = agent.state;
    }
    const ours = currentMessages(whole.view).map(
      (message) => `${message.id} ${message.role} ${textOf(message as unknown as StockMessage)}`,
    );
    expect(whole.view.state).toEqual(state);
    expect(ours).toEqual(messages.map((message) => `${message.id} ${message.role} ${textOf(message)}`));
  });

  it("says of every message which run brought it", () => {
    const runs = whole.view.calls.filter(({ kind }) => kind === "run").map(({ runId }) => runId);
    const brought = new Set(currentMessages(whole.view).map(({ runId }) => runId));
    expect([...brought]).toEqual(runs);
  });

  it("is the same for a page that opened at any entry", () => {
    for (const [index, fold] of folds.entries()) {
      const at = index === 0 ? undefined : entries[index - 1];
      const joined = take(
        emptyProjection,
        wire(face.fullSnapshot(fold, at && { epoch: at.epoch, seq: at.seq })),
        frames.slice(index).flat(),
      );
      expect(seen(joined.view)).toEqual(seen(whole.view));
    }
  });

  it("is the same for a page that came back with any frame's cursor", () => {
    for (const [index, entry] of entries.entries()) {
      for (const [n] of (frames[index] ?? []).entries()) {
        const held = take(emptyProjection, [
          ...frames.slice(0, index).flat(),
          ...(frames[index] ?? []).slice(0, n + 1),
        ]);
        const { prelude, rest } = face.resume(folds[index] ?? emptyThreadProjection, entry, n);
        const back = take(held, wire([...prelude, ...rest]), frames.slice(index + 1).flat());
        expect(seen(back.view)).toEqual(seen(whole.view));
        expect(back.cursor).toBe(whole.cursor);
      }
    }
  });
});
