import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import type { AIMessageChunk, BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { ensureConfig, type Runnable } from "@langchain/core/runnables";
import { type CreateModelOptions, createModel } from "@throughline/langgraph-models";

export interface ConfiguredCallOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[];
}

/**
 * Stands where a library wants a model at construction, and makes the real one at each call from that call's config.
 * It steps in at `invoke`, before core parts the config from the call's options: below that, `configurable` is gone.
 * The real model reports to the callbacks itself, so tokens, tool calls and usage stream as if it had been there.
 */
export class ConfiguredModel extends BaseChatModel<ConfiguredCallOptions> {
  readonly #options: CreateModelOptions;

  constructor(options: CreateModelOptions) {
    super({});
    this.#options = options;
  }

  override _llmType(): string {
    return "configured";
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: Partial<ConfiguredCallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, ConfiguredCallOptions> {
    return this.withConfig({ ...kwargs, tools });
  }

  override async invoke(
    input: BaseLanguageModelInput,
    options?: Partial<ConfiguredCallOptions>,
  ): Promise<AIMessageChunk> {
    const { tools, ...config } = ensureConfig(options);
    const model = await createModel(config, this.#options);
    if (tools === undefined || tools.length === 0) return model.invoke(input, config);
    if (model.bindTools === undefined) throw new TypeError(`${model.getName()} cannot call tools.`);
    return model.bindTools(tools).invoke(input, config);
  }

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    const message = await this.invoke(messages, options);
    return { generations: [{ text: message.text, message }] };
  }
}
