import { randomUUID } from "node:crypto";
import type { Stage } from "./start-stage.js";

interface RunElsewhere {
  readonly account: string;
  readonly agent: string;
  readonly threadId: string;
  readonly content: string;
}

/** A run of another client, which no page of the account has asked for. Resolves when it is over. */
export async function runElsewhere(
  { service }: Stage,
  { account, agent, threadId, content }: RunElsewhere,
): Promise<void> {
  const answer = await fetch(`${service.url}/api/copilotkit/agent/${agent}/run`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-throughline-account": account },
    body: JSON.stringify({ threadId, messages: [{ id: randomUUID(), role: "user", content }] }),
  });
  await answer.text();
}
