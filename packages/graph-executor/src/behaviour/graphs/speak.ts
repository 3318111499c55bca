import { randomUUID } from "node:crypto";
import type { BaseMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { OfflineChatModel } from "@throughline/langgraph-models";

export interface Speech {
  readonly text: string;
  readonly paceMs?: number;
  readonly failAfterTokens?: number;
}

/** Streams a text from a model, token by token, under a message id that is new each time, as providers' ids are. */
export async function speak(speech: Speech, config: LangGraphRunnableConfig): Promise<BaseMessage> {
  const model = new OfflineChatModel({
    script: () => [{ kind: "text", text: speech.text }],
    paceMs: speech.paceMs ?? 0,
    failAfterTokens: speech.failAfterTokens,
    callSite: randomUUID(),
  });
  return model.invoke([{ role: "user", content: "Speak." }], config);
}
