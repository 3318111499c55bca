import { type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { OfflineChatModel } from "@throughline/langgraph-models";

/** What a test wants of the talker, as the text of its message. */
export interface Talk {
  /** How many words it says; each begins with its number. */
  readonly words: number;
  /** Of one word, in characters. */
  readonly size?: number;
  readonly paceMs?: number;
  readonly failAfterTokens?: number;
}

/** Says as many words as it is asked for, as long, as slowly, and fails where it is told to. */
export const talker = new StateGraph(MessagesAnnotation)
  .addNode("talk", async ({ messages }, config: LangGraphRunnableConfig) => {
    // A parsed boundary: tests wrote it.
    const { words, size = 8, paceMs = 0, failAfterTokens } = JSON.parse(messages.at(-1)?.text ?? "") as Talk;
    const text = Array.from({ length: words }, (_, index) => `${index}:`.padEnd(size, "x")).join(" ");
    const model = new OfflineChatModel({
      script: () => [{ kind: "text", text }],
      paceMs,
      failAfterTokens,
      callSite: String(messages.length),
    });
    return { messages: [await model.invoke(messages, config)] };
  })
  .addEdge(START, "talk")
  .compile({ name: "talker" });

export const talk = (asked: Talk): string => JSON.stringify(asked);
