import type { GraphFinal } from "@throughline/ai-core";
import { expect, it } from "vitest";
import type { GraphProvider } from "../provider.js";
import { eventText, startedNodes, streamedText } from "./streamed.js";
import { openThread, type RunOptions, type ThreadSession } from "./thread-session.js";

const EVENTS: RunOptions = { dialect: "events" };

/** What a run came to, without what differs between any two runs. */
function outcomeOf({ status, error, state, messages, interrupts }: GraphFinal) {
  return {
    status,
    code: error?.code,
    state,
    messages: messages?.map(({ role, content, tool_calls }) => ({
      role,
      content,
      calls: tool_calls?.map(({ name, args }) => ({ name, args })),
    })),
    questions: interrupts.map(({ node, value }) => ({ node, value })),
  };
}

const says = (text: string) => (session: ThreadSession, options: RunOptions) => session.say(text, options);

async function asksAndAnswers(session: ThreadSession, options: RunOptions) {
  const { final } = await session.say("one", options);
  expect(final.status).toBe("interrupted");
  return session.answer({ [final.interrupts[0]?.interrupt_id ?? ""]: "A" }, options);
}

export function describeDialects(provider: () => GraphProvider): void {
  it("streams events where they are asked for, with pieces that add up to the checkpoint's message", async () => {
    const { chunks, final } = await openThread(provider(), "chat").say("Hello there", EVENTS);
    const answer = final.messages?.at(-1);
    const modes = new Set(chunks.map(({ mode }) => mode));
    for (const mode of ["events", "updates", "values"]) expect(modes).toContain(mode);
    expect(modes).not.toContain("messages");
    expect(eventText(chunks, answer?.id)).toBe(answer?.content);
    expect(streamedText(chunks, answer?.id)).toBe("");
    expect(startedNodes(chunks)).toContain("agent");
  });

  it.each([
    ["an answer", "poet", says("The sea at night")],
    ["two tools at once", "chat", says("What is 6 * 7 and what is 1 / (2 - 2)?")],
    ["a subgraph beside other nodes", "parallel", says("Go")],
    ["a question", "asker", says("two")],
    ["a question and its answer", "asker", asksAndAnswers],
    ["a failing node", "faulty", says("node")],
    ["a failing model", "faulty", says("model")],
  ])("ends alike in either dialect: %s", async (_, graphName, act) => {
    const inModes = await act(openThread(provider(), graphName), {});
    const inEvents = await act(openThread(provider(), graphName), EVENTS);
    expect(inEvents.chunks.some(({ mode }) => mode === "events")).toBe(true);
    expect(outcomeOf(inEvents.final)).toEqual(outcomeOf(inModes.final));
  });

  it("ends as cancelled when a run that streams events is stopped in the middle of a word", async () => {
    const abort = new AbortController();
    const { final } = await openThread(provider(), "slow").say("Talk", {
      ...EVENTS,
      signal: abort.signal,
      onChunk: (chunk) => eventText([chunk]) !== "" && abort.abort(),
    });
    expect(final).toMatchObject({ ok: false, status: "cancelled", error: { code: "cancelled" } });
    expect(final.messages?.map((message) => message.role)).toEqual(["user"]);
  });
}
