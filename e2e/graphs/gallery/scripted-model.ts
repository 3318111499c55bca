import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  type MessageContent,
  type StandardMessageStructure,
} from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";

/** One model response: text, content blocks or tool calls, and what a provider would send with it. */
export interface Reply {
  readonly text?: string;
  /** Content blocks in a provider's own shape; streamed as one chunk each. */
  readonly blocks?: Exclude<MessageContent, string>;
  readonly calls?: readonly { readonly name: string; readonly args: object; readonly id: string }[];
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** A response as a function of the conversation, so that every execution of a graph gets the same one. */
export type Script = (messages: readonly BaseMessage[], tools: readonly string[]) => Reply;

/** A chat model that streams scripted responses with usage, and binds tools by name. */
export class ScriptedModel extends BaseChatModel {
  readonly script: Script;
  readonly tools: readonly string[];

  constructor(script: Script, tools: readonly string[] = []) {
    super({});
    this.script = script;
    this.tools = tools;
  }

  _llmType(): string {
    return "scripted";
  }

  override bindTools(tools: readonly unknown[]): this {
    return new ScriptedModel(this.script, tools.map(toolName)) as this;
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const reply = this.script(messages, this.tools);
    const message = new AIMessage<StandardMessageStructure>({
      content: reply.blocks ?? reply.text ?? "",
      tool_calls: (reply.calls ?? []).map((call) => ({ ...call, type: "tool_call", args: { ...call.args } })),
      additional_kwargs: { ...reply.extra },
      response_metadata: finished(reply),
      usage_metadata: USAGE,
    });
    return { generations: [{ text: reply.text ?? "", message }] };
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    _options: this["ParsedCallOptions"],
    run?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const reply = this.script(messages, this.tools);
    for (const piece of piecesOf(reply)) {
      const chunk = new ChatGenerationChunk({ text: piece.text, message: piece });
      yield chunk;
      await run?.handleLLMNewToken(piece.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}

const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

function finished({ calls, metadata }: Reply) {
  return { finish_reason: calls ? "tool_calls" : "stop", model_name: "scripted-1", ...metadata };
}

function* piecesOf(reply: Reply): Generator<AIMessageChunk> {
  for (const text of (reply.text ?? "").match(/\S+\s*/g) ?? []) yield new AIMessageChunk({ content: text });
  for (const [index, block] of (reply.blocks ?? []).entries())
    yield new AIMessageChunk({ content: [{ ...block, index }] });
  for (const [index, { name, args, id }] of (reply.calls ?? []).entries()) {
    const json = JSON.stringify(args);
    const half = Math.ceil(json.length / 2);
    yield callChunk({ index, id, name, args: json.slice(0, half) });
    yield callChunk({ index, args: json.slice(half) });
  }
  yield new AIMessageChunk<StandardMessageStructure>({
    content: "",
    additional_kwargs: { ...reply.extra },
    response_metadata: finished(reply),
    usage_metadata: USAGE,
  });
}

function callChunk(call: { index: number; id?: string; name?: string; args: string }): AIMessageChunk {
  return new AIMessageChunk({ content: "", tool_call_chunks: [{ type: "tool_call_chunk", ...call }] });
}

function toolName(tool: unknown): string {
  if (typeof tool !== "object" || tool === null) return "";
  if ("name" in tool && typeof tool.name === "string") return tool.name;
  return "function" in tool ? toolName(tool.function) : "";
}

/** A model that gives one text. */
export function sayer(text: string): ScriptedModel {
  return new ScriptedModel(() => ({ text }));
}

/** The messages since the last one of a person. */
export function sinceHuman(messages: readonly BaseMessage[]): readonly BaseMessage[] {
  return messages.slice(messages.findLastIndex((message) => message.getType() === "human") + 1);
}

/** A script that gives one reply after the other within a turn, and the last one from then on. */
export function inTurn(...replies: readonly Reply[]): Script {
  return (messages) => {
    const given = sinceHuman(messages).filter((message) => message.getType() === "ai").length;
    return replies[Math.min(given, replies.length - 1)] ?? { text: "" };
  };
}
