// A graph whose model types at a given pace: the same file for a graph in this process and for a server.
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

/** @typedef {{ tokens: number, firstMs: number, paceMs: number, paragraph: number }} Typing `paragraph`: words of one; 0 is all */

class TypistModel extends BaseChatModel {
  /** @param {Typing & { id: string }} typing */
  constructor(typing) {
    super({});
    this.typing = typing;
  }

  _llmType() {
    return "typist";
  }

  async *_streamResponseChunks(_messages, options, runManager) {
    const { id, tokens, firstMs, paceMs, paragraph } = this.typing;
    const signal = options.signal ? { signal: options.signal } : {};
    for (let token = 0; token < tokens; token++) {
      const wait = token === 0 ? firstMs : paceMs;
      if (wait > 0) await sleep(wait, undefined, signal);
      // A real model waits for its network: between two tokens other work gets its turn.
      else await turn();
      const text = `${paragraph > 0 && token > 0 && token % paragraph === 0 ? "\n\n" : " "}word${token}`;
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk({ id, content: text }) });
      yield chunk;
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
    }
  }

  async _generate(messages, options) {
    let text = "";
    for await (const chunk of this._streamResponseChunks(messages, options)) text += chunk.text;
    return { generations: [{ text, message: new AIMessage({ id: this.typing.id, content: text }) }] };
  }
}

const last = (initial) => Annotation({ reducer: (_, next) => next, default: () => initial });
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  tokens: last(10),
  firstMs: last(0),
  paceMs: last(0),
  paragraph: last(0),
});

/** @param {object} [options] LangGraph's compile options; a server brings its own saver */
export function createTypist(options = {}) {
  return new StateGraph(State)
    .addNode("type", async ({ messages, tokens, firstMs, paceMs, paragraph }, config) => {
      const id = `answer-to-${messages.at(-1)?.id}`;
      const model = new TypistModel({ id, tokens, firstMs, paceMs, paragraph });
      return { messages: [await model.invoke(messages, config)] };
    })
    .addEdge(START, "type")
    .addEdge("type", END)
    .compile({ name: "typist", ...options });
}

export const typist = createTypist();
