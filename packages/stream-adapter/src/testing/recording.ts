import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import {
  type Dialect,
  type Envelope,
  type GraphFinal,
  type Interrupt,
  type JsonObject,
  type LogEntry,
  type PayloadOf,
  ThroughlineError,
} from "@throughline/ai-core";
import { createServerEventReader, replaceMedia, storedPart, toMessage } from "@throughline/coerce";
import type { AgUiFrame } from "@throughline/reading";
import {
  type AgUiEncoderOptions,
  applyEntry,
  applyEnvelope,
  createAgUiEncoder,
  emptyThreadProjection,
  type ThreadProjection,
} from "@throughline/reading";
import { z } from "zod";
import { createStreamAdapter, type StreamAdapterOptions } from "../stream-adapter.js";

const FIXTURES = new URL("../../fixtures/", import.meta.url);
const EPOCH = "e1";

const lineSchema = z.object({ t: z.number().default(0), event: z.string(), data: z.unknown() });
export type RecordedLine = z.infer<typeof lineSchema>;

const interruptSchema = z.object({ id: z.string(), value: z.json() });
const valuesSchema = z.record(z.string(), z.json());
const finalSchema = z.object({
  graph: z.string(),
  input: z
    .object({ messages: z.array(z.unknown()).optional() })
    .loose()
    .nullish(),
  command: z.object({ resume: z.unknown() }).loose().nullish(),
  before: z.object({ values: valuesSchema, interrupts: z.array(interruptSchema) }),
  run: z.object({ status: z.string() }),
  state: z.object({
    values: valuesSchema,
    tasks: z.array(
      z
        .object({ name: z.string(), id: z.string(), interrupts: z.array(interruptSchema).default([]) })
        .loose(),
    ),
    checkpoint: z.object({ checkpoint_id: z.string() }).loose(),
  }),
});

export interface Recording {
  readonly name: string;
  readonly lines: readonly RecordedLine[];
  readonly final: z.infer<typeof finalSchema>;
}

export const RECORDING_NAMES: readonly string[] = readdirSync(new URL("recordings/", FIXTURES))
  .filter((file) => file.endsWith(".final.json"))
  .map((file) => file.replace(".final.json", ""))
  .sort();

export const CAPTURE_NAMES: readonly string[] = [
  ...readdirSync(new URL("captures/", FIXTURES)).filter((file) => file.endsWith(".jsonl")),
  ...readdirSync(new URL("captures/unread/", FIXTURES)).map((file) => `unread/${file}`),
].filter((file) => file.endsWith(".jsonl"));

export function readLines(path: string): RecordedLine[] {
  return readFileSync(new URL(path, FIXTURES), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line))
    .flatMap((line) => {
      const parsed = lineSchema.safeParse(line);
      return parsed.success ? [parsed.data] : [];
    });
}

/** In-process captures hold what `graph.stream` yielded, one item a line. */
export function readItems(path: string): unknown[] {
  return readFileSync(new URL(path, FIXTURES), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));
}

export function loadRecording(name: string): Recording {
  const final: unknown = JSON.parse(readFileSync(new URL(`recordings/${name}.final.json`, FIXTURES), "utf8"));
  const lines = readLines(`recordings/${name}.jsonl`).map((line) => ({
    ...line,
    data: withoutFiles(line.data),
  }));
  return { name, lines, final: finalSchema.parse(withoutFiles(final)) };
}

/** As a driver does before anything is read: files are named by their content. */
export function withoutFiles(value: unknown): unknown {
  return replaceMedia(value, (media) => {
    const { data } = media.source;
    const bytes = typeof data === "string" ? Buffer.byteLength(data, "base64") : data.byteLength;
    return storedPart(media, createHash("sha256").update(data).digest("base64url"), bytes);
  });
}

/** What an executor would report of this run, decided by run and checkpoint. */
function finalOf({ final }: Recording): GraphFinal {
  const { values, tasks, checkpoint } = final.state;
  const interrupts: Interrupt[] = tasks.flatMap((task) =>
    task.interrupts.map((interrupt) => ({
      interrupt_id: interrupt.id,
      value: interrupt.value,
      node: task.name,
      ns: [`${task.name}:${task.id}`],
    })),
  );
  const shared = {
    interrupts,
    checkpointId: checkpoint.checkpoint_id,
    state: values,
    messages: messagesOf(values),
  };
  if (final.run.status === "error") {
    const error = new ThroughlineError("run_failed", "The graph failed while it ran.");
    return { ...shared, ok: false, status: "error", error };
  }
  if (final.run.status === "interrupted") return { ...shared, ok: true, status: "cancelled" };
  return { ...shared, ok: true, status: interrupts.length > 0 ? "interrupted" : "success" };
}

export function messagesOf(values: JsonObject) {
  return (Array.isArray(values.messages) ? values.messages : []).flatMap((raw) => toMessage(raw) ?? []);
}

/** The client's state once the run is over: everything the checkpoint holds but the messages. */
export function stateOf({ final }: Recording): JsonObject {
  const { messages: _messages, ...state } = final.state.values;
  return state;
}

function startPayload({ final }: Recording): PayloadOf<"run_start"> {
  return {
    graph_id: `langgraph:${final.graph}`,
    input: { messages: (final.input?.messages ?? []).flatMap((raw) => toMessage(raw) ?? []) },
    answers: final.command ? final.before.interrupts.map(({ id }) => id) : [],
    started_by: { kind: "client" },
  };
}

/** The log as it stood when the recorded run began: one earlier run that came to `before`. */
export function foldBefore(recording: Recording): ThreadProjection {
  const { values, interrupts } = recording.final.before;
  if (Object.keys(values).length === 0) return emptyThreadProjection;
  const { messages: _messages, ...state } = values;
  const base = {
    ts: 0,
    trace_id: "trace",
    run_id: "run-0",
    thread_id: "thread",
    attempt: 0,
    parent_id: null,
    call_id: "run-0",
    seq: 1,
    origin: "live",
    agent: recording.final.graph,
  } as const;
  const earlier: Envelope[] = [
    {
      ...base,
      type: "run_start",
      payload: { ...startPayload(recording), input: { messages: [] }, answers: [] },
    },
    { ...base, type: "state_snapshot", payload: { state, messages: messagesOf(values) } },
    ...interrupts.map(
      ({ id, value }): Envelope => ({
        ...base,
        type: "interrupt",
        payload: { interrupt_id: id, value, node: null, ns: [] },
      }),
    ),
    { ...base, type: "run_end", payload: { status: interrupts.length > 0 ? "interrupted" : "success" } },
  ];
  return earlier.reduce(applyEnvelope, emptyThreadProjection);
}

export interface ReplayOptions {
  readonly dialect: Dialect;
  readonly profile?: "user" | "debug";
  readonly sampling?: StreamAdapterOptions["sampling"];
  /** Leaves the checkpoint out, so that what was streamed must stand for itself. */
  readonly blind?: boolean;
}

/** The log entries a driver would write for a recorded run. */
export function replay(recording: Recording, options: ReplayOptions): LogEntry[] {
  const translator = createStreamAdapter({
    context: {
      runId: "run-1",
      threadId: "thread",
      traceId: "trace",
      attempt: 0,
      agent: recording.final.graph,
    },
    dialect: options.dialect,
    profile: options.profile ?? "user",
    fold: foldBefore(recording),
    stateKeys: Object.keys(recording.final.state.values),
    ...(options.sampling !== undefined && { sampling: options.sampling }),
  });
  const envelopes = translator.start(startPayload(recording), 0);
  const readEvent = createServerEventReader();
  let now = 0;
  for (const { t, event, data } of recording.lines) {
    now = Math.max(now, t);
    for (
      let due = translator.nextFlushAt();
      due !== undefined && due <= now;
      due = translator.nextFlushAt()
    ) {
      envelopes.push(...translator.flush(due));
    }
    envelopes.push(...translator.push(readEvent(event, data), now));
  }
  const final = finalOf(recording);
  const { state: _state, messages: _messages, checkpointId: _id, ...unseen } = final;
  const fold = envelopes.reduce(applyEnvelope, foldBefore(recording));
  envelopes.push(...translator.finish(options.blind ? unseen : final, fold, now + 1));
  return toEntries(envelopes);
}

export function toEntries(envelopes: readonly Envelope[], firstSeq = 1): LogEntry[] {
  return envelopes.map((envelope, index) => ({ epoch: EPOCH, seq: firstSeq + index, envelope }));
}

/** Every frame of an uninterrupted watcher. */
export function framesOf(
  entries: readonly LogEntry[],
  options: AgUiEncoderOptions,
  from: ThreadProjection = emptyThreadProjection,
): AgUiFrame[] {
  const face = createAgUiEncoder(options);
  let fold = from;
  return entries.flatMap((entry) => {
    const frames = face.frames(fold, entry);
    fold = applyEntry(fold, entry);
    return frames;
  });
}
