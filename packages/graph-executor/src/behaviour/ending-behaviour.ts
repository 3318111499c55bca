import { randomUUID } from "node:crypto";
import { ThroughlineError, toWireError } from "@throughline/ai-core";
import { expect, it } from "vitest";
import type { GraphProvider } from "../provider.js";
import { SECRET } from "./graphs/faulty.js";
import { modelPieces, startedNodes } from "./streamed.js";
import { openThread, userMessage } from "./thread-session.js";

/** Aborts once a model has begun to speak. */
function abortMidToken(abort: AbortController, reason?: unknown) {
  let pieces = 0;
  return (chunk: Parameters<typeof modelPieces>[0][number]) => {
    pieces += modelPieces([chunk]).length;
    if (pieces >= 3) abort.abort(reason);
  };
}

export function describeEndings(provider: () => GraphProvider): void {
  it("ends as cancelled without running when it is stopped before it starts", async () => {
    const { chunks, final } = await openThread(provider(), "slow").say("Talk", {
      signal: AbortSignal.abort(),
    });
    expect(startedNodes(chunks)).toEqual([]);
    expect(final).toMatchObject({ ok: false, status: "cancelled", error: { code: "cancelled" } });
  });

  it("ends as cancelled when it is stopped in the middle of a word, at the last checkpoint", async () => {
    const abort = new AbortController();
    const session = openThread(provider(), "slow");
    const { final } = await session.say("Talk", { signal: abort.signal, onChunk: abortMidToken(abort) });
    expect(final).toMatchObject({ ok: false, status: "cancelled", error: { code: "cancelled" } });
    expect(final.messages?.map((message) => message.role)).toEqual(["user"]);
    expect((await provider().getState(session.thread))?.next).toEqual(["talk"]);
  });

  it("ends as the error its signal names", async () => {
    const abort = new AbortController();
    const lost = new ThroughlineError("conflict", "Another instance took this run over.");
    const { final } = await openThread(provider(), "slow").say("Talk", {
      signal: abort.signal,
      onChunk: abortMidToken(abort, lost),
    });
    expect(final).toMatchObject({ ok: false, status: "error", error: { code: "conflict" } });
  });

  it("stops when whoever reads it leaves", async () => {
    const { final } = await openThread(provider(), "slow").say("Talk", {
      onChunk: (chunk) => (modelPieces([chunk]).length > 0 ? "leave" : undefined),
    });
    expect(final).toMatchObject({ ok: false, status: "cancelled" });
  });

  it("ends as failed when the model does, after what it had said", async () => {
    const { chunks, final } = await openThread(provider(), "faulty").say("model");
    expect(modelPieces(chunks).length).toBeGreaterThan(0);
    expect(final).toMatchObject({ ok: false, status: "error", error: { code: "run_failed" } });
    expect(final.messages?.map((message) => message.role)).toEqual(["user"]);
  });

  it("runs with the configuration of the run, as configurable and as context", async () => {
    const config = { recursion_limit: 40, configurable: { to: 30, tone: "dry" } };
    const start = { kind: "input", messages: [], state: {} } as const;
    const { final } = await openThread(provider(), "configured").run(start, { config, model: null });
    expect(final.error).toBeUndefined();
    expect(final.state).toMatchObject({ steps: 30, seen: JSON.stringify(["dry", "dry", false]) });
  });

  it("names the setting where a run takes more steps than its limit", async () => {
    const config = { recursion_limit: 5, configurable: { to: 30 } };
    const start = { kind: "input", messages: [], state: {} } as const;
    const { final } = await openThread(provider(), "configured").run(start, { config });
    expect(final.error).toMatchObject({
      code: "run_failed",
      message: expect.stringContaining("config.recursion_limit"),
    });
  });

  it("tells nobody what a failing node said", async () => {
    const { final } = await openThread(provider(), "faulty").say("node");
    expect(final.error?.code).toBe("run_failed");
    expect(JSON.stringify(toWireError(final.error)) + final.error?.message).not.toContain(SECRET);
  });

  it("ends as failed when a graph walks in circles", async () => {
    const { final } = await openThread(provider(), "faulty").say("circle");
    expect(final).toMatchObject({ ok: false, status: "error", error: { code: "run_failed" } });
  });

  it("takes new input on a thread whose last run failed", async () => {
    const session = openThread(provider(), "faulty");
    await session.say("node");
    const { final } = await session.say("fine");
    expect(final.status).toBe("success");
    expect(final.messages?.at(-1)?.content).toBe("this will not end well");
  });

  it("ends as failed when the graph can't take its input", async () => {
    const { final } = await openThread(provider(), "chat").run({
      kind: "input",
      messages: [{ id: randomUUID(), role: "tool", content: "An answer to no call" }],
    });
    expect(final.status).toBe("error");
    expect(["invalid_input", "run_failed"]).toContain(final.error?.code);
  });

  it("says which agents there are when asked for one there is not", async () => {
    const { chunks, final } = await openThread(provider(), "nobody").say("Hello");
    expect(chunks).toEqual([]);
    expect(final).toMatchObject({ ok: false, status: "error", error: { code: "not_found" } });
    expect(final.error?.message).toMatch(/^Unknown agent "nobody". Available: .*chat/);
  });

  it("runs the original input when nothing of a crashed run was stored", async () => {
    const { final } = await openThread(provider(), "notebook").run({
      kind: "continue",
      original: { kind: "input", messages: [userMessage("lost")], state: { topic: "crash" } },
    });
    expect(final).toMatchObject({ status: "success", state: { notes: ["crash: lost"] } });
  });

  it("runs the original input of a crashed second turn, though the first left a checkpoint", async () => {
    const session = openThread(provider(), "notebook");
    await session.say("first");
    const original = { kind: "input", messages: [userMessage("second")] } as const;
    const { final } = await session.run({ kind: "continue", original }, { attempt: 1 });
    expect(final).toMatchObject({ status: "success", state: { notes: [": first", ": second"] } });
  });

  it("ends a crashed run that was waiting as interrupted, without asking again", async () => {
    const session = openThread(provider(), "asker");
    const message = userMessage("one");
    const original = { kind: "input", messages: [message] } as const;
    const { runId, final: asked } = await session.run(original);
    const again = await session.run({ kind: "continue", original }, { runId, attempt: 1 });
    expect(startedNodes(again.chunks)).toEqual([]);
    expect(again.final).toMatchObject({ status: "interrupted", interrupts: asked.interrupts });
  });
}
