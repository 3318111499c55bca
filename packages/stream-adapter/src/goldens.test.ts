import type { Dialect, LogEntry } from "@throughline/ai-core";
import { createServerEventReader, readGraphItem } from "@throughline/coerce";
import { applyEnvelope, emptyThreadProjection, type ThreadProjection } from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { createStreamAdapter } from "./stream-adapter.js";
import { readGolden, renderGolden } from "./testing/golden.js";
import {
  CAPTURE_NAMES,
  foldBefore,
  framesOf,
  loadRecording,
  RECORDING_NAMES,
  readItems,
  readLines,
  replay,
  toEntries,
} from "./testing/recording.js";
import { assertValidEvents } from "./testing/stock-client.js";

const DIALECTS: readonly Dialect[] = ["modes", "events"];
const FACE = { threadName: "golden", line: "1.0", interrupts: "standard" } as const;

/** Envelopes and frames as they are, but for times and for what every line would repeat. */
function expectGolden(name: string, entries: readonly LogEntry[], from: ThreadProjection): void {
  const envelopes = entries.map(({ envelope: { type, call_id, parent_id, seq, agent, payload } }) => ({
    type,
    call_id,
    parent_id,
    seq,
    agent,
    payload,
  }));
  const frames = framesOf(entries, FACE, from).map(({ id, event }) => ({ id, ...event }));
  for (const [kind, values] of [
    ["envelopes", envelopes],
    ["ag-ui", frames],
  ] as const) {
    const current = renderGolden(values);
    expect(current, `run npm run golden -- --update if ${name}.${kind} is meant to change`).toBe(
      readGolden(`${name}.${kind}`, current),
    );
  }
}

/** A capture has no checkpoint to end with: it is read for what it streamed. */
function readCapture(name: string, dialect: Dialect): LogEntry[] {
  const translator = createStreamAdapter({
    context: { runId: "run-1", threadId: "thread", traceId: "trace", attempt: 0, agent: "capture" },
    dialect,
    profile: "user",
  });
  const start = {
    graph_id: "langgraph:capture",
    input: { messages: [] },
    answers: [],
    started_by: { kind: "client" as const },
  };
  const readEvent = createServerEventReader();
  const chunks = name.startsWith("inproc.")
    ? readItems(`captures/${name}`).flatMap((item) => {
        const chunk = readGraphItem(item);
        return chunk ? [{ t: 0, chunk }] : [];
      })
    : readLines(`captures/${name}`).map(({ t, event, data }) => ({ t, chunk: readEvent(event, data) }));
  const envelopes = translator.start(start, 0);
  for (const { t, chunk } of chunks) envelopes.push(...translator.flush(t), ...translator.push(chunk, t));
  const failed = chunks.some(({ chunk }) => chunk.mode === "error");
  const status = failed ? "error" : name.startsWith("supervisor.") ? "interrupted" : "success";
  const fold = envelopes.reduce(applyEnvelope, emptyThreadProjection);
  return toEntries([...envelopes, ...translator.finish({ ok: !failed, status, interrupts: [] }, fold, 1e6)]);
}

describe.each(DIALECTS)("read as %s", (dialect) => {
  it.each(RECORDING_NAMES)("the recording %s translates as it did", (name) => {
    const recording = loadRecording(name);
    expectGolden(`recordings/${name}.${dialect}`, replay(recording, { dialect }), foldBefore(recording));
  });

  it.each(CAPTURE_NAMES)("the capture %s gives a valid stream on both lines", async (name) => {
    const entries = readCapture(name, dialect);
    for (const line of ["0.0", "1.0"] as const) {
      await assertValidEvents(
        line,
        framesOf(entries, { ...FACE, line }).map((frame) => frame.event),
      );
    }
  });
});

/** Captures that hold what a dialect reads (`ALL` holds both); the rest only must do no harm. */
const READ_CAPTURES = CAPTURE_NAMES.filter((name) => !name.startsWith("unread/")).flatMap(
  (name): [string, Dialect][] =>
    name.includes(".ALL")
      ? [
          [name, "modes"],
          [name, "events"],
        ]
      : [[name, name.includes("events") ? "events" : "modes"]],
);

it.each(READ_CAPTURES)("the capture %s translates as it did, read as %s", (name, dialect) => {
  expectGolden(
    `captures/${name.replace(".jsonl", "")}.${dialect}`,
    readCapture(name, dialect),
    emptyThreadProjection,
  );
});
