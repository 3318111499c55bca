// A graph whose model types at a given pace: the same file for a graph in this process and for a server.
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { Annotation, END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

/**
 * @typedef {{ tokens: number, firstMs: number, paceMs: number, sections: readonly number[], stamped: boolean }} Typing
 *   `sections`: words of a paragraph, of a list and of a table, which follow one another; without them all is one paragraph.
 *   `stamped`: each token is its number and the time at which it was due, which does not wait for a slow server
 */

const WORDS_OF_ITEM = 4;
const CELLS_OF_ROW = 3;

/** What stands before a word, so that words become paragraphs, lists and tables. */
function markBefore(token, [paragraph = 0, list = 0, table = 0]) {
  const round = paragraph + list + table;
  if (round === 0) return " ";
  const at = token % round;
  if (at < paragraph) return at > 0 || token === 0 ? " " : "\n\n";
  const inList = at - paragraph;
  if (inList < list) return inList === 0 ? "\n\n- " : inList % WORDS_OF_ITEM === 0 ? "\n- " : " ";
  const inTable = inList - list;
  if (inTable === 0) return "\n\n| where | when | what |\n| --- | ---: | --- |\n| ";
  return inTable % CELLS_OF_ROW === 0 ? " |\n| " : " | ";
}

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
    const { id, tokens, firstMs, paceMs, sections, stamped } = this.typing;
    const signal = options.signal ? { signal: options.signal } : {};
    const firstDue = Date.now() + firstMs;
    for (let token = 0; token < tokens; token++) {
      const due = firstDue + token * paceMs;
      const pace = token === 0 ? firstMs : paceMs;
      const wait = stamped ? due - Date.now() : pace;
      if (wait > 0) await sleep(wait, undefined, signal);
      // A real model waits for its network: between two tokens other work gets its turn.
      else await turn();
      const word = stamped ? `${token}:${due}` : `word${token}`;
      const text = `${markBefore(token, sections)}${word}`;
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
  sections: last([]),
  stamped: last(false),
});

/** @param {object} [options] LangGraph's compile options; a server brings its own saver */
export function createTypist(options = {}) {
  return new StateGraph(State)
    .addNode("type", async ({ messages, ...typing }, config) => {
      const id = `answer-to-${messages.at(-1)?.id}`;
      const model = new TypistModel({ id, ...typing });
      return { messages: [await model.invoke(messages, config)] };
    })
    .addEdge(START, "type")
    .addEdge("type", END)
    .compile({ name: "typist", ...options });
}

export const typist = createTypist();
