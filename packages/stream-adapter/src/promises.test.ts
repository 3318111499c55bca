import { type Envelope, envelopeSchema, type Message, type UpstreamChunk } from "@throughline/ai-core";
import { readGraphItem } from "@throughline/coerce";
import {
  type AgUiVersion,
  applyEntry,
  applyEnvelope,
  createAiEventsEncoder,
  emptyThreadProjection,
} from "@throughline/reading";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reconcile } from "./checkpoint/rebuild.js";
import { agUi, drive, piece, shown } from "./testing/drive.js";
import { type RandomRun, randomRun } from "./testing/random-run.js";
import { readItems, toEntries } from "./testing/recording.js";

const RUNS = Number(process.env.THROUGHLINE_PROPERTY_RUNS ?? 20);
const LINES: readonly AgUiVersion[] = ["0.0", "1.0"];

const envelopesOf = ({ chunks, final }: Pick<RandomRun, "chunks" | "final">) => drive(chunks, { final });

function forAnyRun(check: (run: RandomRun) => void): void {
  fc.assert(fc.property(randomRun, check), { numRuns: RUNS });
}

const types = (envelopes: readonly Envelope[]) => envelopes.map(({ type }) => type);
const callIds = (envelopes: readonly Envelope[]) => envelopes.map(({ call_id }) => call_id);

describe("The entries of any run", () => {
  it("P1: validate against the schema", () => {
    forAnyRun((run) => {
      for (const envelope of envelopesOf(run)) envelopeSchema.parse(envelope);
    });
  });

  it("P2: mean the same whatever their times say", () => {
    forAnyRun((run) => {
      const envelopes = envelopesOf(run);
      const timeless = envelopes.map((envelope, index) => ({ ...envelope, ts: envelopes.length - index }));
      expect(agUi(timeless)).toEqual(agUi(envelopes));
    });
  });

  it("P3, P4: have the same call ids each time they are read, also when the messages have other ids", () => {
    forAnyRun(({ again }) => {
      const { state, messages } = again.final;
      const named = {
        chunks: again.chunks,
        truth: { ...(state && { state }), ...(messages && { messages }) },
      };
      const renamed: typeof named = JSON.parse(JSON.stringify(named).replaceAll('"again-', '"other-'));
      const ids = callIds(envelopesOf(again));
      expect(callIds(envelopesOf(again))).toEqual(ids);
      const final = { ...again.final, ...renamed.truth };
      expect(callIds(envelopesOf({ ...again, chunks: renamed.chunks, final }))).toEqual(ids);
    });
  });

  it("P6: keep their call ids when they are replayed, and say that they are", () => {
    forAnyRun((run) => {
      const replayed = drive(run.chunks, { final: run.final, origin: "replay" });
      expect(callIds(replayed)).toEqual(callIds(envelopesOf(run)));
      expect(new Set(replayed.map(({ origin }) => origin))).toEqual(new Set(["replay"]));
    });
  });

  it("P7: begin with run_start, and end with what is closed, the snapshot, the usage and run_end", () => {
    forAnyRun((run) => {
      const told = types(envelopesOf(run));
      expect(told[0]).toBe("run_start");
      expect(told.filter((type) => type === "run_start" || type === "run_end")).toHaveLength(2);
      expect(told.slice(-3)).toEqual(["state_snapshot", "usage", "run_end"]);
    });
  });

  it("P8, P9, P16: end every step, model call and tool once, and what is inside a step before the step", () => {
    forAnyRun((run) => {
      const open = new Map<string, Envelope>();
      for (const envelope of envelopesOf(run)) {
        const [, kind, edge] = /^(step|llm|tool)_(start|end)$/.exec(envelope.type) ?? [];
        // A subgraph is a step and a tool under one id.
        const key = `${kind} ${envelope.call_id}`;
        if (edge === "start") {
          expect(open.has(key), key).toBe(false);
          open.set(key, envelope);
        }
        if (edge === "end") expect(open.delete(key), key).toBe(true);
        if (envelope.type === "step_end") {
          const inside = [...open.values()].filter(({ parent_id }) => parent_id === envelope.call_id);
          expect(types(inside).filter((type) => type !== "tool_start")).toEqual([]);
        }
        if (envelope.type === "run_end") expect([...open.keys()]).toEqual([]);
      }
    });
  });
});

it.each(["messages", "updates", "values", "tasks", "tools", "checkpoints", "custom"])(
  "P10: a chunk of mode %s that can't be read is passed over with a warning, and the run goes on",
  (mode) => {
    const hostile = new Proxy([], {
      get() {
        throw new Error("hostile");
      },
    });
    const envelopes = drive([{ ns: [], mode, data: hostile }, piece({ content: "still here" })]);
    expect(envelopes.find(({ type }) => type === "warning")?.payload).toMatchObject({
      code: "unreadable_chunk",
    });
    expect(types(envelopes)).toContain("llm_token");
    expect(types(envelopes).at(-1)).toBe("run_end");
  },
);

describe("The snapshot at a run's end", () => {
  const asked = { id: "a", role: "assistant" as const, content: "" };
  const result = (id: string) => ({ id, role: "tool" as const, content: id, tool_call_id: id });
  const fold = { ...shown([asked, result("b"), result("c")]), state: { n: 1 } };
  const final = { ok: true, status: "success", interrupts: [], checkpointId: "k" } as const;

  it("P29: says the checkpoint, and of state and messages only what the log got wrong", () => {
    const truth = { state: { n: 1 }, messages: [...fold.messages] };
    expect(reconcile(fold, { ...final, ...truth }, undefined).snapshot).toEqual({ checkpoint_id: "k" });
    expect(reconcile(fold, { ...final, ...truth, state: { n: 2 } }, undefined).snapshot).toEqual({
      checkpoint_id: "k",
      state: { n: 2 },
    });
    const without = reconcile(fold, { ...final, ...truth, messages: [asked] }, undefined);
    expect(without).toEqual({ withdrawn: ["b", "c"], snapshot: { checkpoint_id: "k" } });
  });

  it("P29: repeats one message that is new, changed or moved, and the whole list where nothing stays", () => {
    const said = (id: string, content = id) => ({ id, role: "user" as const, content });
    const list = ["a", "b", "c", "d"].map((id) => said(id));
    const [a, b, c, d] = list as [Message, Message, Message, Message];
    const changes = (messages: readonly Message[]) => {
      const { withdrawn, snapshot } = reconcile(shown(list), { ...final, messages }, undefined);
      const { changed_messages, messages: whole } = snapshot ?? {};
      return {
        withdrawn,
        changed: changed_messages?.map(({ after, message }) => `${after}>${message.id}`),
        whole: whole?.map(({ id }) => id),
      };
    };
    expect(changes([a, said("x"), b, c, d])).toEqual({ withdrawn: [], changed: ["a>x"] });
    expect(changes([a, b, said("c", "other"), d])).toEqual({ withdrawn: [], changed: ["b>c"] });
    expect(changes([a, c, b, d])).toEqual({ withdrawn: [], changed: ["a>c", "c>b"] });
    expect(changes([a, said("x"), d])).toEqual({ withdrawn: ["b", "c"], changed: ["a>x"] });
    expect(changes([d, c, b, a])).toEqual({ withdrawn: [], whole: ["d", "c", "b", "a"] });
  });

  it("P30: does not take the order of parallel results, or white space in arguments, for a difference", () => {
    const calling = (args: string) => ({
      ...asked,
      tool_calls: [{ id: "b", name: "t", args }],
    });
    const told = { ...fold, messages: [calling('{"x":1}'), result("b"), result("c")] };
    const messages = [calling('{ "x": 1 }'), result("c"), result("b")];
    expect(reconcile(told, { ...final, messages }, undefined).snapshot).toEqual({ checkpoint_id: "k" });
  });
});

describe("Frames", () => {
  it.each(LINES)(
    "P33: bring what people said with RUN_STARTED, and never as a message of the stream (%s)",
    (line) => {
      const [start, ...rest] = drive([piece({ content: "Hi" })]);
      if (start?.type !== "run_start") return expect.unreachable();
      const said = { id: "u1", role: "user" as const, content: "Hello" };
      const envelopes = [{ ...start, payload: { ...start.payload, input: { messages: [said] } } }, ...rest];
      const events = agUi(envelopes, { line });
      expect(events[0]).toMatchObject({ type: "RUN_STARTED", input: { messages: [{ id: "u1" }] } });
      expect(JSON.stringify(events.slice(1))).not.toContain("u1");
    },
  );

  it.each(LINES)(
    "P35: name a step within a step after both, and a twin that runs beside it by a number (%s)",
    (line) => {
      const start = (ns: string[], name: string, id: string): UpstreamChunk => ({
        ns,
        mode: "tasks",
        data: { id, name, input: {}, interrupts: [] },
      });
      const events = agUi(
        drive([
          start([], "plan", "1"),
          start(["plan:1"], "look", "2"),
          start([], "plan", "3"),
          piece({ content: "x" }, "plan:1|look:2"),
        ]),
        { line },
      );
      const names = events.flatMap((event) => (event.type === "STEP_STARTED" ? [event.stepName] : []));
      expect(names).toEqual(["plan", "plan/look", "plan#2"]);
    },
  );

  it("P37: hold no upstream event, whatever the run", () => {
    forAnyRun((run) => {
      for (const line of LINES) {
        const events = agUi(envelopesOf(run), { line });
        expect(events.filter((event) => String(event.type) === "RAW" || "rawEvent" in event)).toEqual([]);
      }
    });
  });
});

describe("What subagents say", () => {
  const chunks = readItems("captures/inproc.twins.jsonl").flatMap((item) => readGraphItem(item) ?? []);
  const envelopes = drive(chunks);
  const saidBelow = ["answer one", "answer two", "answer three"];
  const textOf = (events: readonly object[]) => JSON.stringify(events.filter((event) => "delta" in event));

  it("P36: is no message of the conversation on 0.0", () => {
    const spoken = agUi(envelopes).filter(({ type }) => type.startsWith("TEXT_MESSAGE"));
    for (const words of saidBelow) expect(JSON.stringify(spoken)).not.toContain(words);
    const fold = envelopes.reduce(applyEnvelope, emptyThreadProjection);
    expect(JSON.stringify(fold.messages)).toContain("answer one");
  });

  it("P48: and do is in no AiEvent but the result of the tool that ran them", () => {
    const face = createAiEventsEncoder({ executorType: "inproc" });
    let fold = emptyThreadProjection;
    const events = toEntries(envelopes).flatMap((entry) => {
      const told = face.events(fold, entry);
      fold = applyEntry(fold, entry);
      return told;
    });
    const started = events.flatMap((event) => (event.type === "tool_call_start" ? [event.toolCallId] : []));
    expect(started.sort()).toEqual(["c1", "c2", "c3"]);
    for (const words of saidBelow) expect(textOf(events)).not.toContain(words);
  });
});
