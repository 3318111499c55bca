import type { GraphFinal, LogEntry, UpstreamChunk } from "@throughline/ai-core";
import { readArray, toMessages } from "@throughline/coerce";
import type { AgUiFrame, AgUiVersion, InterruptForm } from "@throughline/reading";
import {
  type AgUiEncoderOptions,
  applyEntry,
  applyEnvelope,
  createAgUiEncoder,
  emptyThreadProjection,
  encodeFrameCursor,
  parseFrameCursor,
  type ThreadProjection,
  threadProjectionCodec,
  WHOLE_ENTRY,
} from "@throughline/reading";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { compactEntries } from "./checkpoint/compact.js";
import { createStreamAdapter } from "./stream-adapter.js";
import { inCallOrder, normaliseClientMessages, normaliseGraphMessages } from "./testing/normalise.js";
import { type RandomRun, randomRun, untakenRun } from "./testing/random-run.js";
import { framesOf, toEntries } from "./testing/recording.js";
import { applyWithStockClient, assertValidEvents } from "./testing/stock-client.js";

// The stock clients take milliseconds per run, and a busy machine several times that.
vi.setConfig({ testTimeout: 180_000 });

const RUNS = Number(process.env.THROUGHLINE_PROPERTY_RUNS ?? 60);

const faceOptions: fc.Arbitrary<AgUiEncoderOptions> = fc.record({
  threadName: fc.constant("plan"),
  line: fc.constantFrom<AgUiVersion[]>("0.0", "1.0"),
  interrupts: fc.constantFrom<InterruptForm[]>("legacy", "standard", "both"),
  calls: fc.boolean(),
});

function translate(
  chunks: readonly UpstreamChunk[],
  times: readonly number[],
  final: GraphFinal,
  sampling?: false,
): LogEntry[] {
  const translator = createStreamAdapter({
    context: { runId: "run-1", threadId: "thread", traceId: "trace", attempt: 0, agent: "graph" },
    dialect: "modes",
    profile: "user",
    ...(sampling === false && { sampling }),
  });
  const envelopes = translator.start(
    {
      graph_id: "langgraph:graph",
      input: { messages: [{ id: "user-1", role: "user", content: "go" }] },
      answers: [],
      started_by: { kind: "client" },
    },
    0,
  );
  chunks.forEach((chunk, index) => {
    const now = times[index] ?? 0;
    for (
      let due = translator.nextFlushAt();
      due !== undefined && due <= now;
      due = translator.nextFlushAt()
    ) {
      envelopes.push(...translator.flush(due));
    }
    envelopes.push(...translator.push(chunk, now));
  });
  const fold = envelopes.reduce(applyEnvelope, emptyThreadProjection);
  return toEntries([...envelopes, ...translator.finish(final, fold, (times.at(-1) ?? 0) + 1)]);
}

const entriesOf = (run: RandomRun, sampling?: false) => translate(run.chunks, run.times, run.final, sampling);
const events = (frames: readonly AgUiFrame[]) => frames.map((frame) => frame.event);

/** What a person would see, in however many pieces it was told. */
async function seen(
  line: AgUiVersion,
  frames: readonly AgUiFrame[],
  initial?: { messages: object[]; state: unknown },
) {
  const view = await applyWithStockClient(line, events(frames), initial);
  expect(view.errors).toEqual([]);
  const reasoning = view.messages
    .filter((message) => "role" in message && message.role === "reasoning")
    // A snapshot names the run that a stream says by its frames; neither is shown.
    .map((message) => ({ ...message, metadata: undefined }));
  return {
    conversation: inCallOrder(normaliseClientMessages(view.messages)),
    reasoning: [...reasoning].sort((a, b) =>
      "id" in a && "id" in b && String(a.id) < String(b.id) ? -1 : 1,
    ),
    state: view.state,
    view: { messages: [...view.messages], state: view.state },
  };
}

describe("any run", () => {
  it("becomes a valid stream on both lines that comes to the checkpoint's messages and state", async () => {
    await fc.assert(
      fc.asyncProperty(randomRun, faceOptions, async (run, options) => {
        const frames = framesOf(entriesOf(run), options);
        await assertValidEvents(options.line, events(frames));
        const { conversation, state } = await seen(options.line, frames);
        const { messages, ...values } = run.final.state ?? {};
        expect(conversation).toEqual(
          inCallOrder(normaliseGraphMessages(Array.isArray(messages) ? messages : [])),
        );
        expect(state).toEqual(values);
      }),
      { numRuns: RUNS },
    );
  });

  it("shows, after each superstep, every message that the root state then holds", () => {
    fc.assert(
      fc.property(randomRun, ({ chunks }) => {
        const translator = createStreamAdapter({
          context: { runId: "run-1", threadId: "thread", traceId: "trace", attempt: 0, agent: "graph" },
          dialect: "modes",
          profile: "user",
        });
        let fold: ThreadProjection = { ...emptyThreadProjection };
        for (const chunk of chunks) {
          fold = translator.push(chunk, 0).reduce(applyEnvelope, fold);
          if (chunk.mode !== "values" || chunk.ns.length > 0) continue;
          const shown = new Set(fold.messages.map(({ id }) => id));
          const held = toMessages(readArray(chunk.data, "messages")).map(({ id }) => id);
          expect(held.filter((id) => !shown.has(id))).toEqual([]);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it("reads the same with and without sampling", async () => {
    await fc.assert(
      fc.asyncProperty(randomRun, faceOptions, async (run, options) => {
        const sampled = await seen(options.line, framesOf(entriesOf(run), options));
        const whole = await seen(options.line, framesOf(entriesOf(run, false), options));
        expect({ ...sampled, view: null }).toEqual({ ...whole, view: null });
      }),
      { numRuns: RUNS },
    );
  });

  it("never says upstream error text to a person", () => {
    fc.assert(
      fc.property(randomRun, faceOptions, (run, options) => {
        expect(JSON.stringify(framesOf(entriesOf(run), options))).not.toContain("sk-secret");
      }),
      { numRuns: RUNS },
    );
  });

  it("P76: puts no bytes of a message into an entry or a frame, whether or not its files were taken out before", () => {
    fc.assert(
      fc.property(fc.oneof(randomRun, untakenRun), faceOptions, (run, options) => {
        const entries = translate(run.chunks, run.times, run.final);
        expect(JSON.stringify([entries, framesOf(entries, options)])).not.toMatch(/[A-Za-z0-9+/]{256}/);
      }),
      { numRuns: RUNS },
    );
  });

  it("numbers envelopes of a call from 1 without a hole, and opens a call before it closes it", () => {
    fc.assert(
      fc.property(randomRun, (run) => {
        const last = new Map<string, number>();
        for (const { envelope } of entriesOf(run)) {
          expect(envelope.seq).toBe((last.get(envelope.call_id) ?? 0) + 1);
          last.set(envelope.call_id, envelope.seq);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a watcher who comes late or comes back", () => {
  const cut = fc.record({ run: randomRun, options: faceOptions, at: fc.nat() });

  it("sees after a full prelude what an uninterrupted one sees", async () => {
    await fc.assert(
      fc.asyncProperty(cut, async ({ run, options, at }) => {
        const entries = entriesOf(run);
        const k = at % entries.length;
        const face = createAgUiEncoder(options);
        const fold = entries.slice(0, k).reduce(applyEntry, emptyThreadProjection);
        const prelude = face.fullSnapshot(fold, { epoch: "e1", seq: k });
        // A thread with nothing open tells itself as a finished run; what follows is a run of its own.
        const joined = [...prelude, ...framesOf(entries.slice(k), options, fold)];
        await assertValidEvents(options.line, events(joined));
        const uncut = await seen(options.line, framesOf(entries, options));
        const late = await seen(options.line, joined);
        expect({ ...late, view: null }).toEqual({ ...uncut, view: null });
        expect(prelude.filter((frame) => frame.id !== undefined)).toEqual([prelude.at(-1)]);
      }),
      { numRuns: RUNS },
    );
  });

  it("gets, after coming back with any frame's cursor, exactly the frames that are left, and nothing twice", async () => {
    await fc.assert(
      fc.asyncProperty(cut, async ({ run, options, at }) => {
        const entries = entriesOf(run);
        const all = framesOf(entries, options);
        const k = at % all.length;
        const heard = all.slice(0, k + 1);
        const cursor = parseFrameCursor(heard.at(-1)?.id ?? "");
        if (!cursor) return expect.unreachable("every frame has a cursor");
        const face = createAgUiEncoder(options);
        const before = entries.slice(0, cursor.seq - 1).reduce(applyEntry, emptyThreadProjection);
        const entry = entries[cursor.seq - 1];
        if (!entry) return expect.unreachable("a cursor names an entry");
        const { prelude, rest } = face.resume(before, entry, cursor.n);
        const after = framesOf(entries.slice(cursor.seq), options, applyEntry(before, entry));
        const resumed = [...prelude, ...rest, ...after];
        expect(prelude.every((frame) => frame.id === undefined)).toBe(true);
        expect([...heard, ...resumed.filter((frame) => frame.id !== undefined)]).toEqual(all);
        if (resumed.length > 0) await assertValidEvents(options.line, events(resumed));
        const uncut = await seen(options.line, all);
        const first = await seen(options.line, heard);
        const back = resumed.length > 0 ? await seen(options.line, resumed, first.view) : first;
        expect({ ...back, view: null }).toEqual({ ...uncut, view: null });
      }),
      { numRuns: RUNS },
    );
  });

  it("skips the whole entry when it comes back with a prelude's cursor", () => {
    fc.assert(
      fc.property(cut, ({ run, options, at }) => {
        const entries = entriesOf(run);
        const k = at % entries.length;
        const entry = entries[k];
        if (!entry) return;
        const before = entries.slice(0, k).reduce(applyEntry, emptyThreadProjection);
        const id = encodeFrameCursor({ epoch: "e1", seq: entry.seq, n: WHOLE_ENTRY, face: "0l" });
        expect(parseFrameCursor(id)?.n).toBe(WHOLE_ENTRY);
        expect(createAgUiEncoder(options).resume(before, entry, WHOLE_ENTRY).rest).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a run taken up again after a crash", () => {
  /** R27 as a driver writes it: what was streamed up to the crash, the new attempt, what it withdraws, and its own stream. */
  function takenUp(run: RandomRun, at: number): LogEntry[] {
    const first = entriesOf(run).map((entry) => entry.envelope);
    const broken = first
      .slice(0, 1 + (at % Math.max(1, first.length - 1)))
      .filter(({ type }) => type !== "run_end");
    const fold = broken.reduce(applyEnvelope, emptyThreadProjection);
    const lost = fold.messages.filter((message) => message.id !== "user-1").map((message) => message.id);
    const translator = createStreamAdapter({
      context: { runId: "run-1", threadId: "thread", traceId: "trace", attempt: 1, agent: "graph" },
      dialect: "modes",
      profile: "user",
      fold: { ...fold, messages: fold.messages.filter((message) => !lost.includes(message.id)) },
    });
    const envelopes = [...broken];
    const start = {
      graph_id: "g",
      input: { messages: [] },
      answers: [],
      started_by: { kind: "client" as const },
    };
    const [restart] = translator.start(start, 0);
    if (restart) {
      const payload = { message_ids: lost, call_ids: [], reason: "takeover" };
      envelopes.push(restart, { ...restart, type: "retract", payload, seq: restart.seq + 1 });
    }
    for (const [index, chunk] of run.again.chunks.entries()) envelopes.push(...translator.push(chunk, index));
    envelopes.push(
      ...translator.finish(run.again.final, envelopes.reduce(applyEnvelope, emptyThreadProjection), 1e6),
    );
    return toEntries(envelopes);
  }

  it("comes to the checkpoint's messages and state, with nothing doubled and one terminal", async () => {
    await fc.assert(
      fc.asyncProperty(randomRun, faceOptions, fc.nat(), async (run, options, at) => {
        const frames = framesOf(takenUp(run, at), options);
        await assertValidEvents(options.line, events(frames));
        const { conversation, state } = await seen(options.line, frames);
        const { messages, ...values } = run.again.final.state ?? {};
        expect(conversation).toEqual(
          inCallOrder(normaliseGraphMessages(Array.isArray(messages) ? messages : [])),
        );
        expect(state).toEqual(values);
        expect(
          events(frames).filter(({ type }) => type === "RUN_FINISHED" || type === "RUN_ERROR"),
        ).toHaveLength(1);
        expect(events(frames).filter(({ type }) => type === "RUN_STARTED")).toHaveLength(1);
      }),
      { numRuns: RUNS },
    );
  });

  it("looks the same to a watcher who joins at any moment of it", async () => {
    await fc.assert(
      fc.asyncProperty(randomRun, faceOptions, fc.nat(), fc.nat(), async (run, options, at, join) => {
        const entries = takenUp(run, at);
        const k = join % entries.length;
        const fold = entries.slice(0, k).reduce(applyEntry, emptyThreadProjection);
        const prelude = createAgUiEncoder(options).fullSnapshot(fold, undefined);
        const joined = [...prelude, ...framesOf(entries.slice(k), options, fold)];
        await assertValidEvents(options.line, events(joined));
        const uncut = await seen(options.line, framesOf(entries, options));
        const late = await seen(options.line, joined);
        expect(late.conversation).toEqual(uncut.conversation);
        expect(late.state).toEqual(uncut.state);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a run that was compacted", () => {
  const both = (run: RandomRun) => {
    const entries = entriesOf(run, false);
    return { entries, compacted: compactEntries(entries) };
  };

  it("folds, after each entry that is left, to what the entries up to its seq fold to", () => {
    fc.assert(
      fc.property(randomRun, (run) => {
        const { entries, compacted } = both(run);
        let fold = emptyThreadProjection;
        for (const entry of compacted) {
          fold = applyEntry(fold, entry);
          expect(fold).toEqual(
            threadProjectionCodec.apply(
              emptyThreadProjection,
              entries.filter(({ seq }) => seq <= entry.seq),
            ),
          );
        }
        expect(compacted.at(-1)).toEqual(entries.at(-1));
      }),
      { numRuns: RUNS },
    );
  });

  it("reads the same, says what it merged, and does not change when it is compacted again", async () => {
    await fc.assert(
      fc.asyncProperty(randomRun, faceOptions, async (run, options) => {
        const { entries, compacted } = both(run);
        expect(compactEntries(compacted)).toEqual(compacted);
        expect(compacted.reduce((sum, { envelope }) => sum + (envelope.merged ?? 1), 0)).toBe(entries.length);
        const whole = await seen(options.line, framesOf(entries, options));
        const short = await seen(options.line, framesOf(compacted, options));
        expect({ ...short, view: null }).toEqual({ ...whole, view: null });
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the fold", () => {
  it("is the same in one piece and in two, and survives being stored", () => {
    fc.assert(
      fc.property(randomRun, fc.nat(), (run, at) => {
        const entries = entriesOf(run);
        const k = at % (entries.length + 1);
        const whole = threadProjectionCodec.apply(emptyThreadProjection, entries);
        const first = threadProjectionCodec.apply(emptyThreadProjection, entries.slice(0, k));
        const stored: unknown = JSON.parse(JSON.stringify(threadProjectionCodec.encode(first)));
        const restored = threadProjectionCodec.decode(stored as never, threadProjectionCodec.version);
        expect(threadProjectionCodec.apply(first, entries.slice(k))).toEqual(whole);
        expect(threadProjectionCodec.apply(restored ?? emptyThreadProjection, entries.slice(k))).toEqual(
          whole,
        );
        expect(
          threadProjectionCodec.decode(stored as never, threadProjectionCodec.version + 1),
        ).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });

  it("leaves nothing open once a run has ended, and never changes what it was given", () => {
    fc.assert(
      fc.property(randomRun, (run) => {
        const entries = entriesOf(run);
        let fold: ThreadProjection = emptyThreadProjection;
        for (const entry of entries) {
          const frozen = JSON.stringify(fold);
          const next = applyEntry(fold, entry);
          expect(JSON.stringify(fold)).toBe(frozen);
          fold = next;
        }
        expect([fold.openMessages, fold.openSteps, fold.openSubagents]).toEqual([[], [], []]);
        expect(fold.run?.open).toBe(false);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("junk", () => {
  const modes = [
    "messages",
    "updates",
    "values",
    "custom",
    "tasks",
    "tools",
    "checkpoints",
    "error",
    "events",
    "debug",
    "",
    "new",
  ];
  const junkChunk: fc.Arbitrary<UpstreamChunk> = fc.record({
    ns: fc.array(fc.oneof(fc.constantFrom("a:1", "1", "", ":", "a:1|b:2"), fc.string()), { maxLength: 3 }),
    mode: fc.constantFrom(...modes),
    data: fc.oneof(
      fc.anything({
        withBigInt: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withDate: true,
        withNullPrototype: true,
      }),
      fc.tuple(fc.anything(), fc.anything()),
      fc.constant(hostile()),
      fc.constant([hostile(), hostile()]),
    ),
  });

  it.each(["modes", "events"] as const)(
    "in between never throws and never breaks the order rules, read as %s",
    async (dialect) => {
      await fc.assert(
        fc.asyncProperty(
          randomRun,
          fc.array(junkChunk, { maxLength: 12 }),
          faceOptions,
          fc.nat(),
          async (run, junk, options, at) => {
            const chunks = [...run.chunks];
            chunks.splice(at % (chunks.length + 1), 0, ...junk);
            const translator = createStreamAdapter({
              context: { runId: "run-1", threadId: "thread", traceId: "trace", attempt: 0, agent: "graph" },
              dialect,
              profile: "user",
            });
            const start = {
              graph_id: "g",
              input: { messages: [] },
              answers: [],
              started_by: { kind: "client" as const },
            };
            const envelopes = [
              ...translator.start(start, 0),
              ...chunks.flatMap((chunk, index) => translator.push(chunk, index)),
            ];
            envelopes.push(
              ...translator.finish(run.final, envelopes.reduce(applyEnvelope, emptyThreadProjection), 1e6),
            );
            const frames = framesOf(toEntries(envelopes), options);
            await assertValidEvents(options.line, events(frames));
            expect(
              events(frames).filter(({ type }) => type === "RUN_FINISHED" || type === "RUN_ERROR"),
            ).toHaveLength(1);
          },
        ),
        { numRuns: RUNS },
      );
    },
  );
});

/** Everything that makes naive readers fall over, in one object. */
function hostile(): object {
  const value: Record<string, unknown> = {
    type: "ai",
    event: "on_chain_end",
    big: 10n ** 30n,
    nan: Number.NaN,
    map: new Map<unknown, unknown>([[{ a: 1 }, new Set([1])]]),
    bytes: new Uint8Array([255, 254]),
    error: new RangeError("no"),
    fn: () => 1,
    symbol: Symbol("s"),
    date: new Date(Number.NaN),
    getType: "not a function",
    toJSON: () => {
      throw new Error("toJSON");
    },
  };
  value.self = value;
  Object.defineProperty(value, "trap", {
    enumerable: true,
    get() {
      throw new Error("getter");
    },
  });
  return value;
}
