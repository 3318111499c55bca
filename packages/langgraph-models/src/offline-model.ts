import { setTimeout as sleep } from "node:timers/promises";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  type StandardMessageStructure,
  type UsageMetadata,
} from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import {
  layOutTurn,
  type OfflineDelta,
  type OfflineScript,
  type OfflineTurn,
  toOfflinePrompt,
} from "./offline-turn.js";

export const OFFLINE_MODEL_NAME = "throughline-offline";

export interface OfflineChatModelFields {
  readonly script: OfflineScript;
  /** Milliseconds between tokens. 0 sets no timer at all. */
  readonly paceMs: number;
  /** Throws once this many deltas were streamed; a shorter reply succeeds. */
  readonly failAfterTokens?: number | undefined;
  /** The position of the call in its graph; enters the ids, see `layOutTurn`. */
  readonly callSite?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface OfflineCallOptions extends BaseChatModelCallOptions {
  /** Names of the bound tools; a script decides by them what it may call. */
  toolNames?: readonly string[];
}

/** A chat model without a network: it streams its script's parts in the shapes that real providers stream. */
export class OfflineChatModel extends BaseChatModel<OfflineCallOptions> {
  readonly #fields: OfflineChatModelFields;

  constructor(fields: OfflineChatModelFields) {
    super(fields.tags ? { tags: [...fields.tags] } : {});
    this.#fields = fields;
  }

  override _llmType(): string {
    return "offline";
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: Partial<OfflineCallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, OfflineCallOptions> {
    return this.withConfig({ ...kwargs, toolNames: tools.map(toolName) });
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { script, paceMs, failAfterTokens, callSite = "" } = this.#fields;
    const prompt = toOfflinePrompt(messages, options.toolNames ?? []);
    const turn = layOutTurn(prompt, script(prompt), callSite);
    for (const [position, delta] of turn.deltas.entries()) {
      if (position === failAfterTokens) throw requestedFailure(failAfterTokens);
      if (paceMs > 0) await sleep(paceMs, undefined, options.signal ? { signal: options.signal } : {});
      options.signal?.throwIfAborted();
      const chunk = deltaChunk(turn, delta);
      yield chunk;
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
    if (turn.deltas.length === failAfterTokens) throw requestedFailure(failAfterTokens);
    options.signal?.throwIfAborted();
    const last = lastChunk(turn);
    yield last;
    await runManager?.handleLLMNewToken("", undefined, undefined, undefined, undefined, { chunk: last });
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const chunk of this._streamResponseChunks(messages, options)) {
      whole = whole === undefined ? chunk : whole.concat(chunk);
    }
    if (whole === undefined || !AIMessageChunk.isInstance(whole.message)) return { generations: [] };
    const { id, content, tool_calls, usage_metadata, response_metadata } = whole.message;
    const message = new AIMessage({
      content,
      response_metadata,
      ...(id === undefined ? {} : { id }),
      ...(tool_calls === undefined ? {} : { tool_calls }),
      ...(usage_metadata === undefined ? {} : { usage_metadata }),
    });
    return { generations: [{ text: whole.text, message }] };
  }
}

/**
 * Content is a plain string unless the turn reasons. Then every piece is a content block with an index: core merges
 * blocks by index, and appends a new block for each string that follows a block.
 */
function deltaChunk(turn: OfflineTurn, delta: OfflineDelta): ChatGenerationChunk {
  switch (delta.kind) {
    case "text":
      return generation(
        delta.text,
        new AIMessageChunk({
          id: turn.messageId,
          content: turn.hasReasoning ? [{ type: "text", text: delta.text, index: delta.block }] : delta.text,
        }),
      );
    case "reasoning":
      return generation(
        "",
        new AIMessageChunk({
          id: turn.messageId,
          content: [{ type: "reasoning", reasoning: delta.text, index: delta.block }],
        }),
      );
    case "callStart":
      return callChunk(turn, { index: delta.call, id: delta.id, name: delta.name, args: "" });
    case "callArgs":
      return callChunk(turn, { index: delta.call, args: delta.text });
  }
}

function callChunk(
  turn: OfflineTurn,
  call: { index: number; args: string; id?: string; name?: string },
): ChatGenerationChunk {
  return generation(
    "",
    new AIMessageChunk({
      id: turn.messageId,
      content: "",
      tool_call_chunks: [{ type: "tool_call_chunk", ...call }],
    }),
  );
}

function lastChunk(turn: OfflineTurn): ChatGenerationChunk {
  const { promptTokens, answerTokens, reasoningTokens } = turn.usage;
  const usage: UsageMetadata = {
    input_tokens: promptTokens,
    output_tokens: answerTokens,
    total_tokens: promptTokens + answerTokens,
    ...(reasoningTokens > 0 ? { output_token_details: { reasoning: reasoningTokens } } : {}),
  };
  return generation(
    "",
    new AIMessageChunk<StandardMessageStructure>({
      id: turn.messageId,
      content: "",
      response_metadata: { finish_reason: turn.finishReason, model_name: OFFLINE_MODEL_NAME },
      usage_metadata: usage,
    }),
  );
}

function generation(text: string, message: AIMessageChunk): ChatGenerationChunk {
  return new ChatGenerationChunk({ text, message });
}

function requestedFailure(tokens: number): Error {
  return new Error(`The offline model was told to fail after ${tokens} tokens.`);
}

/** A tool is bound as a LangChain tool (`name`) or in the OpenAI form (`function.name`). */
function toolName(tool: BindToolsInput): string {
  if ("name" in tool && typeof tool.name === "string") return tool.name;
  if ("function" in tool && typeof tool.function?.name === "string") return tool.function.name;
  throw new TypeError("A tool bound to the offline model has no name.");
}
