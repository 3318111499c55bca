import { expect, it } from "vitest";
import type { GraphProvider } from "../provider.js";
import { modelPieces, startedNodes, startedTools, streamedText } from "./streamed.js";
import { openThread } from "./thread-session.js";

export function describeStreaming(provider: () => GraphProvider): void {
  it("streams an answer in pieces that add up to the message the checkpoint holds", async () => {
    const { chunks, final } = await openThread(provider(), "chat").say("Hello there");
    const answer = final.messages?.at(-1);
    expect(final).toMatchObject({ ok: true, status: "success", interrupts: [] });
    expect(final.checkpointId).toEqual(expect.any(String));
    expect(answer?.role).toBe("assistant");
    expect(modelPieces(chunks).length).toBeGreaterThan(3);
    expect(streamedText(chunks, answer?.id)).toBe(answer?.content);
  });

  it("streams every mode a full translation needs", async () => {
    const { chunks } = await openThread(provider(), "chat").say("What is 6 * 7?");
    const modes = new Set(chunks.map((chunk) => chunk.mode));
    for (const mode of ["messages", "updates", "values", "tasks", "checkpoints", "tools"]) {
      expect(modes).toContain(mode);
    }
    expect(startedNodes(chunks)).toEqual(expect.arrayContaining(["agent", "tools"]));
  });

  it("runs two tools that one message calls, and answers both calls", async () => {
    const { chunks, final } = await openThread(provider(), "chat").say(
      "What is 6 * 7 and what is the time in Paris?",
    );
    const calls = final.messages?.[1]?.tool_calls ?? [];
    const results = final.messages?.filter((message) => message.role === "tool") ?? [];
    expect(calls.map((call) => call.name)).toEqual(["calculator", "clock"]);
    expect(JSON.parse(calls[0]?.args ?? "")).toEqual({ expression: "6 * 7" });
    expect(results.map((message) => message.tool_call_id)).toEqual(calls.map((call) => call.id));
    expect([...startedTools(chunks)].sort()).toEqual(["calculator", "clock"]);
  });

  it("keeps the text that comes before a tool call in the same message", async () => {
    const { chunks, final } = await openThread(provider(), "chat").say(
      "First tell me what you will do, then compute 1 + 1.",
    );
    const planned = final.messages?.[1];
    expect(planned?.content).toContain("First the plan");
    expect(planned?.tool_calls).toHaveLength(1);
    expect(streamedText(chunks, planned?.id)).toBe(planned?.content);
  });

  it("goes on when a tool fails, with a tool message that says so", async () => {
    const { final } = await openThread(provider(), "chat").say("What is 1 / (2 - 2)?");
    expect(final.status).toBe("success");
    expect(final.messages).toContainEqual(
      expect.objectContaining({
        role: "tool",
        status: "error",
        content: expect.stringContaining("Division by zero"),
      }),
    );
  });

  it("keeps reasoning apart from the answer", async () => {
    const { final } = await openThread(provider(), "ponderer").say("Why is the sky blue?");
    const answer = final.messages?.at(-1);
    expect(answer?.reasoning?.length).toBeGreaterThan(0);
    expect(answer?.content).not.toContain(answer?.reasoning);
  });

  it("streams parallel nodes and a subgraph, each under its own path", async () => {
    const { chunks, final } = await openThread(provider(), "parallel").say("Go");
    const texts = final.messages?.slice(1).map((message) => message.content) ?? [];
    expect([...texts].sort()).toEqual([
      "all have spoken",
      "inner first",
      "inner second",
      "left speaks",
      "right speaks a little longer",
    ]);
    const paths = new Set(
      modelPieces(chunks).map((piece) => piece.ns.map((part) => part.split(":")[0]).join("/")),
    );
    expect([...paths].sort()).toEqual(["inner/first", "inner/second", "join", "left", "right"]);
  });

  it.each(["poet", "researcher", "sentinel"])("runs %s to its end", async (graphName) => {
    const { final } = await openThread(provider(), graphName).say("The sea at night");
    expect(final.status).toBe("success");
    expect(final.messages?.at(-1)?.role).toBe("assistant");
  });

  it("hands a command to the graph, and writes it to no state", async () => {
    const sentinel = openThread(provider(), "sentinel");
    const nothing = { kind: "input", messages: [] } as const;
    const { final } = await sentinel.run(nothing, { command: { name: "hire" } });
    expect(final.state).toMatchObject({ lifecycle: "hired" });
    const synced = await sentinel.run(
      { ...nothing, state: { settings: { watch: ["queue"] } } },
      { command: { name: "sync", clientMutationId: "m1" } },
    );
    expect(synced.final.state).toMatchObject({
      settings: { watch: ["queue"] },
      lastAppliedClientMutationId: "m1",
    });
    expect(synced.final.state).not.toHaveProperty("command");
    expect((await sentinel.say("Are you there?")).final.state).toMatchObject({
      log: [{ command: "hire" }, { command: "sync" }],
    });
  });

  it("hands a frontend's tools and context to the graph", async () => {
    const { final } = await openThread(provider(), "frontend").say("What do you see?", {
      tools: [{ name: "confetti", description: "Throws confetti", parameters: { type: "object" } }],
      context: [{ description: "The open page", value: "checkout" }],
    });
    expect(JSON.parse(String(final.messages?.at(-1)?.content))).toEqual({
      state: ["confetti"],
      actions: ["confetti"],
      configurable: ["confetti"],
      context: ["The open page"],
    });
  });
}
