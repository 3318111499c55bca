import { setTimeout as delay } from "node:timers/promises";
import { type CommandOutcome, createAgentClient, currentMessages } from "@throughline/agent-client";
import { type AnyMessage, messageLines } from "../../e2e/server/stock/message-lines.js";
import type { Sent } from "../check/history.js";
import type { PlannedDeed } from "../plan/work-plan.js";
import type { Requests } from "./chaos-http.js";
import { type Person, wordsOf } from "./person.js";
import type { ThreadName } from "./watch-thread.js";

const POLL_MS = 100;

/** A person at a page: the client that pages use repeats and reconnects by itself. */
export function personByClient(url: string, requests: Requests, { agent, threadId }: ThreadName): Person {
  const client = createAgentClient({
    url: `${url}/api/copilotkit`,
    headers: () => requests.headers,
    account: requests.account,
    connectionPolicy: { firstRetryMs: 100, maxRetryMs: 1_000 },
    // Longer than any run of the checks: a command is never given up.
    commandPolicy: { sendRetryMs: 300, sendRetries: 10_000 },
  });
  const thread = client.thread(`langgraph:${agent}`, threadId);
  const close = thread.open();
  const sent = new Map<string, Sent>();
  let count = 0;

  interface Said {
    readonly runId: string;
    readonly outcome: Promise<CommandOutcome>;
  }

  function say(plan: string, isQueued = false): Said {
    count += 1;
    const words = wordsOf(requests.account, threadId, count);
    const command = thread.send(`${words} ${plan}`, isQueued ? { kind: "queue" } : { kind: "reject" });
    return { runId: command.runId, outcome: track(command.runId, words, command) };
  }

  async function track(
    runId: string,
    words: string | undefined,
    command: Promise<CommandOutcome>,
  ): Promise<CommandOutcome> {
    sent.set(runId, { runId, words, fate: "unknown" });
    const outcome = await command;
    const fate = outcome.kind === "done" ? "accepted" : "unknown";
    sent.set(runId, { runId, words, fate: isRefusal(outcome) ? "refused" : fate });
    return outcome;
  }

  async function openQuestion(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      const [question] = thread.getSnapshot().view.interrupts;
      if (question) return question.id;
      await delay(POLL_MS);
    }
    return undefined;
  }

  return {
    async perform({ deed, plan, pauseMs }: PlannedDeed, signal) {
      const first = say(plan);
      const under: Said[] = [first];
      if (deed === "queue") under.push(say(plan, true));
      if (deed === "stop" || deed === "preempt") {
        await Promise.race([first.outcome, delay(pauseMs)]);
        await orAborted(thread.stop(), signal);
      }
      if (deed === "preempt") under.push(say(plan, true));
      const outcomes = await orAborted(Promise.all(under.map(({ outcome }) => outcome)), signal);
      const [outcome] = outcomes ?? [];
      if (deed !== "answer" || outcome?.kind !== "done" || outcome.status !== "interrupted") return;
      const id = await openQuestion(signal);
      if (id === undefined) return;
      await delay(pauseMs);
      const answer = thread.answer(id, "yes");
      await orAborted(track(answer.runId, undefined, answer), signal);
    },
    sent: () => [...sent.values()],
    mutations: () => [],
    page() {
      const { view, connection, pending } = thread.getSnapshot();
      const messages = currentMessages(view).filter((message) => !("local" in message));
      return {
        // What the client's own schema has let through.
        messages: messageLines(messages as readonly AnyMessage[]),
        connection: JSON.stringify({ connection, run: view.run, pending }),
      };
    },
    leave() {
      close();
      client.close();
    },
  };
}

function isRefusal({ kind }: CommandOutcome): boolean {
  return kind === "busy" || kind === "refused";
}

/** A command never rejects and has no deadline. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return Promise.race([
    work,
    new Promise<undefined>((resolve) => {
      if (signal.aborted) resolve(undefined);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
    }),
  ]);
}
