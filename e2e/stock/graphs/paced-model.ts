import { setTimeout as sleep } from "node:timers/promises";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk, type ChatResult } from "@langchain/core/outputs";

/** Says these chunks, one at a time, with a pause before each. */
export class PacedModel extends BaseChatModel {
  readonly #chunks: readonly Partial<ConstructorParameters<typeof AIMessageChunk>[0] & object>[];
  readonly #paceMs: number;

  constructor(
    chunks: readonly Partial<ConstructorParameters<typeof AIMessageChunk>[0] & object>[],
    paceMs: number,
  ) {
    super({});
    this.#chunks = chunks;
    this.#paceMs = paceMs;
  }

  _llmType(): string {
    return "paced";
  }

  async _generate(): Promise<ChatResult> {
    return { generations: [{ text: "", message: new AIMessage("") }] };
  }

  override async *_streamResponseChunks(
    _messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const fields of this.#chunks) {
      await sleep(this.#paceMs, undefined, options.signal ? { signal: options.signal } : {});
      const message = new AIMessageChunk({ content: "", ...fields });
      const chunk = new ChatGenerationChunk({ message, text: message.text });
      yield chunk;
      await manager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}
