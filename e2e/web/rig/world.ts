import { type AgentClient, createAgentClient, type ThreadHandle } from "@throughline/agent-client";
import { until } from "../../client/shown.js";
import { talk } from "../../server/graphs/talker.js";
import type { Stage } from "./start-stage.js";

/** An account in which everything has happened once, by names that pages can be opened by. */
export async function fillAccount(stage: Stage, account: string): Promise<void> {
  const headers = { "x-throughline-account": account };
  const client = createAgentClient({ url: `${stage.service.url}/api/copilotkit`, headers: () => headers });
  try {
    await Promise.all([
      converse(client, "poet", "train", ["Write about the last train home", "Rain on a tin roof"]),
      converse(client, "ponderer", "city", ["Should I move to another city?"]),
      converse(client, "chat", "sums", ["What is 12 * (3 + 4)?", "What time is it in Tokyo?"]),
      converse(client, "researcher", "crash", ["How do agents keep their place after a crash?"]),
      planTrip(client),
      converse(client, "travel", "waiting", ["Plan my trip"]),
      converse(client, "pair", "both", ["Ask me both"]),
      breakDown(client),
      stopMidway(client),
      keepWatch(client),
    ]);
  } finally {
    client.close();
  }
  await schedule(stage, headers);
  await giveFeedback(stage, headers);
}

function opened(client: AgentClient, agent: string, name: string): ThreadHandle {
  const thread = client.thread(`langgraph:${agent}`, name);
  thread.open();
  return thread;
}

async function converse(client: AgentClient, agent: string, name: string, said: readonly string[]) {
  const thread = opened(client, agent, name);
  for (const words of said) await thread.send(words);
  return thread;
}

async function planTrip(client: AgentClient): Promise<void> {
  const thread = await converse(client, "travel", "planned", ["Plan my trip"]);
  for (const answer of ["KLM", "Hotel Zephyr"]) {
    const { view } = await until(thread, ({ view: shown }) => shown.interrupts.length > 0);
    await thread.answer(view.interrupts[0]?.id ?? "", answer);
  }
}

async function breakDown(client: AgentClient): Promise<void> {
  await opened(client, "talker", "broken").send(talk({ words: 40, failAfterTokens: 12 }));
}

async function stopMidway(client: AgentClient): Promise<void> {
  const thread = opened(client, "talker", "stopped");
  const outcome = thread.send(talk({ words: 400, paceMs: 10 }));
  await until(thread, ({ view }) => view.open.some(({ message }) => String(message.content).length > 100));
  await thread.stop();
  await outcome;
}

async function keepWatch(client: AgentClient): Promise<void> {
  const thread = opened(client, "sentinel", "watch");
  await thread.command("hire");
  await thread.command("cycle", { durationMs: 50 });
}

async function schedule(stage: Stage, headers: Record<string, string>): Promise<void> {
  const post = async (path: string, body: object = {}) => {
    const answer = await fetch(`${stage.service.url}${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    const made: { id: string } = await answer.json();
    return made.id;
  };
  const cycle = { command: { name: "cycle", args: { durationMs: 50 } } };
  const watch = await post("/crons", {
    agent: "langgraph:sentinel",
    threadName: "watch",
    schedule: "0 * * * *",
    input: cycle,
  });
  await post(`/crons/${watch}/run`);
  await post("/crons", {
    agent: "langgraph:poet",
    threadName: null,
    schedule: "30 8 * * 1-5",
    timeZone: "Europe/Amsterdam",
    input: { message: "A line for the morning" },
  });
}

async function giveFeedback(stage: Stage, headers: Record<string, string>): Promise<void> {
  const thread = `${stage.service.url}/agents/poet/threads/train`;
  const state: { messages: { id: string }[] } = await (await fetch(`${thread}/state`, { headers })).json();
  const given = { messageId: state.messages.at(-1)?.id, value: "down", note: "It rhymes rain with rain." };
  const answer = await fetch(`${thread}/feedback`, {
    method: "PUT",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(given),
  });
  if (!answer.ok) throw new Error(`feedback: ${answer.status} ${await answer.text()}`);
}
