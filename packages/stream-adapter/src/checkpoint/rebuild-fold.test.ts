import type { Envelope, GraphCheckpoint, Message } from "@throughline/ai-core";
import { applyEnvelope, currentMessages, type ProjectedRun } from "@throughline/reading";
import { describe, expect, it } from "vitest";
import { agent, agUi, drive, piece } from "../testing/drive.js";
import { toEntries } from "../testing/recording.js";
import { rebuildProjection } from "./rebuild.js";

const asked: Message = { id: "u1", role: "user", content: "Hello" };
const run: ProjectedRun = { run_id: "run-1", client_run_id: null, attempt: 0, open: true, status: null };

it("knows the open run as a call, so that it can be followed and stopped", () => {
  const call = { name: "langgraph:graph", started_at: 1, started_by: { kind: "cron" as const, id: "c" } };
  const source = { checkpoint: undefined, stateKeys: undefined, run, call };
  expect(rebuildProjection(source).runs).toEqual([
    expect.objectContaining({ kind: "run", call_id: "run-1", status: "running", ...call }),
  ]);
  expect(rebuildProjection({ ...source, run: { ...run, open: false } }).runs).toEqual([]);
});

function checkpointOf(
  messages: readonly Message[],
  state: GraphCheckpoint["state"] = {},
): Pick<GraphCheckpoint, "checkpointId" | "interrupts" | "messages" | "state"> {
  return { checkpointId: "c1", interrupts: [], messages, state };
}

/** A run of two messages, without its end. */
const envelopes = drive([
  piece({ content: "One" }),
  piece({ content: " and more" }),
  piece({ id: "m2", content: "Two" }, "agent:task-2"),
  piece({ id: "m2", content: " and more" }, "agent:task-2"),
]).filter(({ type }) => type !== "run_end" && type !== "state_snapshot");
const isToken = ({ type }: Envelope) => type === "llm_token";
const after = (count: number) => {
  const at = envelopes.map((each, index) => (isToken(each) ? index : -1)).filter((index) => index >= 0)[
    count
  ];
  return envelopes.slice(at);
};
const texts = (fold: ReturnType<typeof rebuildProjection>) =>
  currentMessages(fold).map(({ id, content }) => `${id}: ${String(content)}`);

describe("a fold that is rebuilt from a checkpoint", () => {
  it("holds an idle thread as the checkpoint has it, and no state that is not for clients", () => {
    const checkpoint = checkpointOf([asked], { shown: 1, secret: 2 });
    const fold = rebuildProjection({ checkpoint, stateKeys: ["messages", "shown"], run: null });
    expect(fold).toMatchObject({ run: null, messages: [asked], state: { shown: 1 }, checkpoint_id: "c1" });
    expect(fold.state).not.toHaveProperty("secret");
  });

  it("is the thread before the run, and the run, where the log has all of it", () => {
    const entries = toEntries(envelopes);
    const fold = rebuildProjection({ checkpoint: checkpointOf([asked]), stateKeys: undefined, run, entries });
    expect(texts(fold)).toEqual(["u1: Hello", "m1: One and more", "m2: Two and more"]);
    expect(fold.run).toMatchObject({ run_id: "run-1", open: true });
  });

  it("tells no text twice that the checkpoint has already", () => {
    const m1: Message = { id: "m1", role: "assistant", content: "One and more" };
    for (const entries of [toEntries(envelopes), toEntries(after(1))]) {
      const fold = rebuildProjection({
        checkpoint: checkpointOf([asked, m1]),
        stateKeys: undefined,
        run,
        entries,
      });
      expect(texts(fold)).toEqual(["u1: Hello", "m1: One and more", "m2: Two and more"]);
    }
  });

  it("holds what people said to the run whose beginning is lost", () => {
    const entries = toEntries(after(3));
    const fold = rebuildProjection({
      checkpoint: undefined,
      stateKeys: undefined,
      run,
      said: [asked],
      entries,
    });
    expect(texts(fold)).toEqual(["u1: Hello", "m2:  and more"]);
    expect(
      rebuildProjection({ checkpoint: undefined, stateKeys: undefined, run, said: [asked] }).messages,
    ).toEqual([]);
  });

  it("goes on with a message whose beginning is lost, which gets a start of its own", () => {
    const fold = rebuildProjection({ checkpoint: checkpointOf([asked]), stateKeys: undefined, run });
    const types = agUi(after(3), {}, fold).map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT"]);
    expect(types.filter((type) => type === "TEXT_MESSAGE_START")).toHaveLength(1);
    expect(types.filter((type) => type === "TEXT_MESSAGE_END")).toHaveLength(1);
    expect(texts(after(3).reduce(applyEnvelope, fold))).toEqual(["u1: Hello", "m2:  and more"]);
  });

  it("says nothing of a message below a subgraph whose beginning is lost: it may be a subagent's", () => {
    const nested = drive([
      piece({ content: "Aside" }, `${agent}|inner:task-3`),
      piece({ content: ", more" }, `${agent}|inner:task-3`),
    ]).filter(isToken);
    const fold = rebuildProjection({ checkpoint: checkpointOf([asked]), stateKeys: undefined, run });
    expect(nested).toHaveLength(2);
    expect(agUi(nested, {}, fold)).toEqual([]);
    expect(texts(nested.reduce(applyEnvelope, fold))).toEqual(["u1: Hello"]);
  });
});
