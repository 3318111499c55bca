import type { AgUiEncoderOptions } from "@throughline/reading";
import { snapshotMessages } from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { inCallOrder, normaliseClientMessages, normaliseGraphMessages } from "./testing/normalise.js";
import {
  foldBefore,
  framesOf,
  loadRecording,
  RECORDING_NAMES,
  type Recording,
  replay,
  stateOf,
} from "./testing/recording.js";
import { applyWithStockClient, assertValidEvents } from "./testing/stock-client.js";

const LINES = ["0.0", "1.0"] as const;
const DIALECTS = ["modes", "events"] as const;
const FORMS = ["legacy", "standard", "both"] as const;

function options(
  line: AgUiEncoderOptions["line"],
  interrupts: AgUiEncoderOptions["interrupts"],
): AgUiEncoderOptions {
  return { threadName: "plan", line, interrupts };
}

/** A client that watched the thread before this run. */
function clientBefore(recording: Recording, line: AgUiEncoderOptions["line"]) {
  const fold = foldBefore(recording);
  return { messages: snapshotMessages(fold, { line }), state: fold.state };
}

/** The client's own objects, results of parallel calls aside, which stand in the order in which they happened to come. */
function byCall(messages: readonly object[]): readonly object[] {
  return [...messages].sort((a, b) => callOf(a).localeCompare(callOf(b)));
}

function callOf(message: object): string {
  return "toolCallId" in message && typeof message.toolCallId === "string" ? message.toolCallId : "";
}

describe.each(RECORDING_NAMES)("%s", (name) => {
  const recording = loadRecording(name);
  const truth = inCallOrder(
    normaliseGraphMessages(
      Array.isArray(recording.final.state.values.messages) ? recording.final.state.values.messages : [],
    ),
  );

  describe.each(DIALECTS)("read as %s", (dialect) => {
    it.each(LINES)("gives the stock %s client the thread's own messages and state", async (line) => {
      for (const form of FORMS) {
        const events = framesOf(
          replay(recording, { dialect }),
          options(line, form),
          foldBefore(recording),
        ).map((frame) => frame.event);
        await assertValidEvents(line, events);
        const view = await applyWithStockClient(line, events, clientBefore(recording, line));
        expect(view.errors).toEqual([]);
        expect(view.warnings).toEqual([]);
        expect(inCallOrder(normaliseClientMessages(view.messages))).toEqual(truth);
        expect(view.state).toEqual(stateOf(recording));
      }
    });
  });

  it.each(LINES)("reads the same in both dialects on %s", async (line) => {
    const [modes, events] = await Promise.all(
      DIALECTS.map((dialect) => {
        const frames = framesOf(
          replay(recording, { dialect }),
          options(line, "legacy"),
          foldBefore(recording),
        );
        return applyWithStockClient(
          line,
          frames.map((frame) => frame.event),
          clientBefore(recording, line),
        );
      }),
    );
    expect(byCall(events?.messages ?? [])).toEqual(byCall(modes?.messages ?? []));
    expect(events?.state).toEqual(modes?.state);
  });

  // Cancelled and failed runs showed text that no checkpoint holds: only they need correcting.
  it.each(DIALECTS)("needs no snapshot of messages, read as %s, unless text was lost", (dialect) => {
    const frames = framesOf(
      replay(recording, { dialect }),
      options("1.0", "standard"),
      foldBefore(recording),
    );
    const snapshots = frames.filter((frame) => frame.event.type === "MESSAGES_SNAPSHOT").length;
    expect(snapshots).toBe(["cancel", "model-error"].includes(name) ? 1 : 0);
  });

  it("streams as much when sampling is off, and no more", async () => {
    const view = await applyWithStockClient(
      "0.0",
      framesOf(
        replay(recording, { dialect: "modes", sampling: false }),
        options("0.0", "legacy"),
        foldBefore(recording),
      ).map((frame) => frame.event),
      clientBefore(recording, "0.0"),
    );
    expect(inCallOrder(normaliseClientMessages(view.messages))).toEqual(truth);
  });
});
