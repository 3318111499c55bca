import { AIMessage } from "@langchain/core/messages";
import { END, MessagesValue, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { type AttachmentPort, attachmentUrl, type Message } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { openThread } from "../behaviour/thread-session.js";
import { createMemoryCheckpointer } from "../checkpoints/checkpointer.js";
import { describeLoadedGraph, graphRegistry } from "../graphs/graph.js";

import { createInProcProvider } from "../inproc/provider.js";
import { storedText } from "../persistence/stored-text-fixture.js";
import { loadAttachmentBlock } from "./blocks.js";

const BYTES = Buffer.from("not really a picture ".repeat(50));
const reference = {
  type: "image",
  source_type: "url",
  url: attachmentUrl("one"),
  mime_type: "image/png",
  metadata: { filename: "cat.png", bytes: BYTES.length },
};
const attachments: AttachmentPort = {
  readAttachment: async ({ caller }, id) =>
    id === "one" && caller.billingAccountId === "acme" ? BYTES : undefined,
  storeFile: async () => undefined,
};

/** A graph that says what it was given, and the saver it ran with. */
function looker() {
  const seen: unknown[][] = [];
  const state = new StateSchema({ messages: MessagesValue });
  const graph = new StateGraph(state)
    .addNode("look", ({ messages }: typeof state.State) => {
      seen.push(messages.flatMap(({ content }) => (typeof content === "string" ? [] : content)));
      return { messages: [new AIMessage("Seen.")] };
    })
    .addNode("nod", () => ({ messages: [new AIMessage("Again.")] }))
    .addEdge(START, "look")
    .addEdge("look", "nod")
    .addEdge("nod", END)
    .compile();
  const { saver } = createMemoryCheckpointer();
  const provider = createInProcProvider({
    graphs: graphRegistry([
      { descriptor: describeLoadedGraph({ graphName: "looker" }, graph), create: () => graph },
    ]),
    checkpointer: saver,
    attachments,
  });
  return { provider, saver, seen };
}

async function withPicture(): Promise<Message> {
  const owner = { caller: { billingAccountId: "acme" }, threadId: "any" };
  const block = await loadAttachmentBlock(reference, "one", owner, attachments);
  return { id: "m1", role: "user", content: [{ type: "text", text: "Look." }, block] };
}

describe("A picture in a message", () => {
  it("reaches the graph with its bytes, in this turn and in the next", async () => {
    const { provider, seen } = looker();
    const session = openThread(provider, "looker");
    await session.run({ kind: "input", messages: [await withPicture()] });
    await session.say("And now?");
    const data = BYTES.toString("base64");
    expect(seen).toMatchObject([
      [{ type: "text" }, { type: "image", data }],
      [{ type: "text" }, { type: "image", data }],
    ]);
  });

  it("is in no checkpoint, and only its address is in what is told of the run", async () => {
    const { provider, saver } = looker();
    const session = openThread(provider, "looker");
    const { final } = await session.run({ kind: "input", messages: [await withPicture()] });
    expect(storedText(saver)).toContain(reference.url);
    expect(storedText(saver)).not.toContain(BYTES.toString("base64").slice(0, 40));
    expect(final.messages?.[0]?.content).toEqual([{ type: "text", text: "Look." }, reference]);
    const [newest] = await provider.history(session.thread, { limit: 1 });
    expect(newest?.messages?.[0]?.content).toEqual(final.messages?.[0]?.content);
  });

  it("that is no longer stored is said in words", async () => {
    const { provider, seen } = looker();
    const session = openThread(provider, "looker");
    await session.run({ kind: "input", messages: [await withPicture()] });
    const gone = { readAttachment: async () => undefined };
    const owner = { caller: { billingAccountId: "acme" }, threadId: "any" };
    expect(await loadAttachmentBlock(reference, "one", owner, gone)).toEqual({
      type: "text",
      text: "[cat.png is no longer stored]",
    });
    expect(seen).toHaveLength(1);
  });
});
