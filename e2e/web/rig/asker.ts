import { AIMessage } from "@langchain/core/messages";
import { interrupt, MessagesAnnotation, Send, START, StateGraph } from "@langchain/langgraph";
import type { JsonObject } from "@throughline/ai-core";

/** What a test wants to be asked: one question each, as a graph would pass it to `interrupt()`. */
export type Asked = readonly (JsonObject & { readonly message: string })[];

/** Asks all that its message lists, at once, and says what was answered to each. */
export const asker = new StateGraph(MessagesAnnotation)
  .addNode("ask", ({ question }: { readonly question: Asked[number] }) => {
    const answer: unknown = interrupt(question);
    const words = `${question.message} ${JSON.stringify(answer)}`;
    return { messages: [new AIMessage({ id: `answered ${question.message}`, content: words })] };
  })
  .addConditionalEdges(
    START,
    ({ messages }) => {
      // A parsed boundary: tests wrote it.
      const asked = JSON.parse(messages.at(-1)?.text ?? "[]") as Asked;
      return asked.map((question) => new Send("ask", { question }));
    },
    ["ask"],
  )
  .compile({ name: "asker" });

export const ask = (...questions: Asked): string => JSON.stringify(questions);
