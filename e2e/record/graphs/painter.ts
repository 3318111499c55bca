import { crc32, deflateSync } from "node:zlib";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import { AIMessage, AIMessageChunk, ToolMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";

/** A tool that gives back a picture, and a model that answers with one: as MCP's servers and image models do. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }, config) => ({
    messages: [await new Painter({}).invoke(messages, config)],
  }))
  .addNode("tools", new ToolNode([sketchTool()]))
  .addEdge(START, "model")
  .addConditionalEdges("model", ({ messages }) => (wantsTool(messages.at(-1)) ? "tools" : END), [
    "tools",
    END,
  ])
  .addEdge("tools", "model")
  .compile({ name: "painter" });

function wantsTool(message: BaseMessage | undefined): boolean {
  return (
    (AIMessage.isInstance(message) || AIMessageChunk.isInstance(message)) && !!message.tool_calls?.length
  );
}

function sketchTool() {
  return tool(
    async (_, { toolCall }) =>
      new ToolMessage({
        id: `sketch-of-${toolCall?.id}`,
        tool_call_id: toolCall?.id ?? "",
        name: "sketch",
        content: [
          { type: "text", text: "A first sketch." },
          { type: "image", data: paint(20, [90, 160, 220]), mimeType: "image/png" },
        ],
      }),
    { name: "sketch", description: "Draws a sketch.", schema: z.object({ of: z.string() }) },
  );
}

/** Speaks in blocks, piece by piece. What it is given is in what it says, so that a test sees whether bytes reached it. */
class Painter extends BaseChatModel {
  override _llmType(): string {
    return "painter";
  }

  override async _generate(): Promise<ChatResult> {
    throw new Error("The painter only streams.");
  }

  override async *_streamResponseChunks(messages: BaseMessage[]): AsyncGenerator<ChatGenerationChunk> {
    const turn = messages.filter((message) => message.getType() === "human").length;
    const sketch = messages.findLast((message) => message.getType() === "tool");
    const isAnswered = messages.at(-1) === sketch;
    const id = `painter-${turn}-${isAnswered ? "answer" : "call"}`;
    if (!isAnswered) {
      const call = {
        id: `call-${turn}`,
        name: "sketch",
        args: '{"of":"the sea"}',
        index: 0,
        type: "tool_call_chunk" as const,
      };
      yield piece(new AIMessageChunk({ id, content: "", tool_call_chunks: [call] }));
      return;
    }
    const blocks = [
      { type: "text", text: `I saw ${picturesIn(messages)} pictures. `, index: 0 },
      { type: "text", text: "Here is mine:", index: 0 },
      { type: "image", data: paint(28, [230, 140, 60]), mimeType: "image/png", index: 1 },
      { type: "text", text: "Shall I ", index: 2 },
      { type: "text", text: "go on?", index: 2 },
    ];
    for (const block of blocks) yield piece(new AIMessageChunk({ id, content: [block] }));
  }
}

function piece(message: AIMessageChunk): ChatGenerationChunk {
  return new ChatGenerationChunk({ message, text: message.text });
}

/** Blocks with real bytes. */
function picturesIn(messages: readonly BaseMessage[]): number {
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  return blocks.filter((block) => "data" in block && String(block.data).startsWith("iVBORw0KGgo")).length;
}

/** A PNG of some waves, in base64; large enough that a log which held it would show it. */
function paint(size: number, [red, green, blue]: readonly [number, number, number]): string {
  const rows = Array.from({ length: size }, (_, y) =>
    Buffer.from([
      0,
      ...Array.from({ length: size }, (__, x) => {
        const light = (Math.sin(x / 5) + Math.cos((x * y) / 97) + 2) / 4;
        return [red, green, blue].map((part) => Math.round(part * light));
      }).flat(),
    ]),
  );
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.concat(rows))),
    chunk("IEND", Buffer.alloc(0)),
  ]).toString("base64");
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
