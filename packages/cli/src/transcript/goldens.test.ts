import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgUiFrame } from "@throughline/agent-client";
import type { Envelope, LogEntry } from "@throughline/ai-core";
import { applyEntry, createAgUiEncoder, emptyThreadProjection } from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { createFrameSteps, printFrame } from "./reduce-frame.js";

import { emptyTranscript } from "./transcript.js";

const RECORDED = new URL("../../../stream-adapter/fixtures/goldens/recordings/", import.meta.url);
const TRANSCRIPTS = new URL("../../fixtures/transcripts/", import.meta.url);
const UPDATING = process.env.THROUGHLINE_UPDATE_GOLDENS === "1";

/** The graphs that come along, and what can go otherwise than planned. */
const NAMES = [
  "chat-parallel-tools",
  "chat-tool-error",
  "poet",
  "ponderer",
  "travel-interrupt",
  "travel-resume-flights",
  "researcher",
  "sentinel-cycle",
  "nested-subgraphs",
  "parallel-nodes",
  "several-interrupts",
  "cancel",
  "model-error",
];

/** The recorded envelopes, with what every line would have repeated. */
function readEntries(name: string): readonly LogEntry[] {
  const lines = readFileSync(new URL(`${name}.modes.envelopes.jsonl`, RECORDED), "utf8")
    .trim()
    .split("\n");
  return lines.map((line, index) => {
    const repeated = { ts: 0, trace_id: "trace", thread_id: "thread", attempt: 0, origin: "live" };
    const recorded: Pick<Envelope, "call_id"> = JSON.parse(line);
    return {
      epoch: "golden",
      seq: index + 1,
      // As the log held it, and as its own test checks it.
      envelope: { ...repeated, run_id: "run-1", ...recorded } as unknown as Envelope,
    };
  });
}

function transcriptOf(entries: readonly LogEntry[]): string {
  const face = createAgUiEncoder({ threadName: "t", line: "1.0", interrupts: "standard", calls: true });
  const steps = createFrameSteps();
  let fold = emptyThreadProjection;
  let state = emptyTranscript({ showsInput: true, history: 20 });
  let text = "";
  for (const entry of entries) {
    // As they come off the wire.
    const frames: readonly AgUiFrame[] = JSON.parse(JSON.stringify(face.frames(fold, entry)));
    for (const step of steps(frames)) {
      const [next, spans] = printFrame(state, step);
      state = next;
      text += spans.map((span) => span.text).join("");
    }
    fold = applyEntry(fold, entry);
  }
  return text;
}

describe("A recorded run on a terminal", () => {
  it.each(NAMES)("reads as it should: %s", (name) => {
    const current = transcriptOf(readEntries(name));
    const file = fileURLToPath(new URL(`${name}.txt`, TRANSCRIPTS));
    if (UPDATING) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, current);
    }
    const golden = existsSync(file) ? readFileSync(file, "utf8") : "";
    expect(current, `run npm run golden -- --update if ${name} is meant to change`).toBe(golden);
  });
});
