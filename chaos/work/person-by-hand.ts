import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { said } from "../../e2e/server/rig/agent-routes.js";
import type { Sent } from "../check/history.js";
import type { PlannedDeed } from "../plan/work-plan.js";
import type { Requests } from "./chaos-http.js";
import { type Person, wordsOf } from "./person.js";
import { readAnswer } from "./read-answer.js";
import { untilEnded } from "./read-thread.js";
import type { ThreadName } from "./watch-thread.js";

type Answer = Sent["fate"];

function answerOfStatus(status: number): Answer {
  return status < 500 && status !== 429 ? "refused" : "unknown";
}

interface Asked {
  readonly runId: string;
  readonly words: string | undefined;
  readonly body: object;
}

const RETRY_MS = 300;
/** How many of the same request are under way at once, of a person who resends. */
const COPIES = 3;

/** A person whose requests are made by hand, each repeated under its run's id until it is answered. */
export function personByHand(requests: Requests, { agent, threadId }: ThreadName): Person {
  const fates = new Map<string, Sent>();
  const mutations: string[] = [];
  let count = 0;

  function ask(plan: string, props: object = {}): Asked {
    const runId = `run-${randomUUID()}`;
    count += 1;
    const words = wordsOf(requests.account, threadId, count);
    const messages = [said(`message-${randomUUID()}`, `${words} ${plan}`)];
    return { runId, words, body: { threadId, runId, messages, forwardedProps: { throughline: props } } };
  }

  /** Gives whether it was accepted. */
  async function send({ runId, words, body }: Asked, signal: AbortSignal, reads: boolean): Promise<boolean> {
    const note = (fate: Sent["fate"]) => fates.set(runId, { runId, words, fate });
    if (!fates.has(runId)) note("unknown");
    while (!signal.aborted) {
      const leaving = new AbortController();
      try {
        const response = await requests.post(`/api/copilotkit/agent/${agent}/run`, body, {
          signal: AbortSignal.any([signal, leaving.signal]),
        });
        const answer = response.ok ? await readAnswer(response, reads) : answerOfStatus(response.status);
        if (answer === "accepted") note("accepted");
        // A copy that is refused after another was accepted changes nothing.
        if (answer === "refused" && fates.get(runId)?.fate !== "accepted") note("refused");
        leaving.abort();
        if (answer !== "unknown") return answer === "accepted";
      } catch {
        // Cut, or silent: whether it arrived is not known, so it is sent again under the same id.
      }
      leaving.abort();
      await delay(RETRY_MS);
    }
    return false;
  }

  async function stop(runId: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const answer = await requests
        .post(`/api/copilotkit/agent/${agent}/stop/${threadId}`, { runId }, { signal })
        .catch(() => undefined);
      await answer?.text().catch(() => {});
      if (answer && answer.status < 500 && answer.status !== 429) return;
      await delay(RETRY_MS);
    }
  }

  const ended = (asked: readonly Asked[], signal: AbortSignal) =>
    untilEnded(requests, { agent, threadId }, { runIds: accepted(asked), signal });
  const accepted = (asked: readonly Asked[]) =>
    asked.map(({ runId }) => runId).filter((runId) => fates.get(runId)?.fate === "accepted");

  async function mutate(signal: AbortSignal): Promise<void> {
    const clientMutationId = `mutation-${randomUUID()}`;
    const name = mutations.length === 0 ? "hire" : "sync";
    count += 1;
    const watched = `queue ${count}`;
    const command = { name, clientMutationId };
    const asked: Asked = {
      runId: `run-${randomUUID()}`,
      words: undefined,
      body: {
        threadId,
        messages: [],
        ...(name === "sync" && { state: { settings: { watch: [watched] } } }),
        forwardedProps: { throughline: { command, strategy: "enqueue" } },
      },
    };
    const named: Asked = { ...asked, body: { ...asked.body, runId: asked.runId } };
    await Promise.all(Array.from({ length: COPIES }, () => send(named, signal, true)));
    if (fates.get(named.runId)?.fate === "accepted")
      mutations.push(name === "hire" ? "hire done" : `sync done: Watching ${watched} every`);
    await ended([named], signal);
  }

  async function answer(signal: AbortSignal): Promise<void> {
    const runId = `run-${randomUUID()}`;
    const body = { threadId, runId, messages: [], forwardedProps: { command: { resume: "yes" } } };
    const asked: Asked = { runId, words: undefined, body };
    await Promise.all([send(asked, signal, true), send(asked, signal, true)]);
    await ended([asked], signal);
  }

  return {
    async perform({ deed, plan, pauseMs }: PlannedDeed, signal) {
      if (deed === "mutate") return mutate(signal);
      const first = ask(plan);
      const asked = [first];
      switch (deed) {
        case "ask":
          await send(first, signal, true);
          break;
        case "leave":
          await send(first, signal, false);
          break;
        case "resend":
          await Promise.all(Array.from({ length: COPIES }, () => send(first, signal, true)));
          break;
        case "stop":
          await send(first, signal, false);
          await delay(pauseMs);
          await stop(first.runId, signal);
          break;
        case "queue":
        case "preempt": {
          const second = ask(plan, { strategy: deed === "queue" ? "enqueue" : "preempt" });
          asked.push(second);
          await send(first, signal, false);
          await delay(pauseMs);
          await send(second, signal, true);
          break;
        }
        case "answer":
        case "ignore":
          await send(first, signal, true);
          break;
      }
      const statuses = await ended(asked, signal);
      if (deed === "answer" && statuses.includes("interrupted")) {
        await delay(pauseMs);
        await answer(signal);
      }
    },
    sent: () => [...fates.values()],
    mutations: () => mutations,
    leave: () => {},
  };
}
