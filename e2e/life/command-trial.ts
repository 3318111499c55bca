import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import {
  readEvents,
  type SseEvent,
  sseEvents,
} from "../../packages/langgraph-server/src/testing/sse-events.js";
import { type AgentRoutes, agentRoutes } from "../server/rig/agent-routes.js";

const ACTS = ["stop by its name", "stop the thread", "sync", "enqueued sync", "fire"] as const;
const MOMENTS = [0, 1, 5, 20];

export type Random = () => number;

interface Answer {
  readonly name: string;
  readonly events: readonly SseEvent[];
}

/**
 * A cycle that would go on for a minute, and one to three things that happen to it in its first milliseconds, over HTTP, on
 * either of two instances. Says what must be so whatever came first: no stop is lost, no two runs are open at once, every
 * run has one end, and the thread is free afterwards. A stop that was lost shows as a stream that does not end.
 */
export async function tryCommands(urls: readonly string[], threadId: string, random: Random): Promise<void> {
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
  const here = agentRoutes(pick(urls));
  const actor = agentRoutes(pick(urls));
  const acts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
    act: pick(ACTS),
    afterMs: pick(MOMENTS),
  }));

  const send = async (routes: AgentRoutes, name: string, throughline: object, state: object = {}) => {
    const input = { threadId, runId: `${threadId}/${name}`, forwardedProps: { throughline }, state };
    const events: SseEvent[] = [];
    for await (const event of sseEvents(await routes.run("sentinel", input))) {
      events.push(event);
      if (name === "cycle") begin();
    }
    return { name, events };
  };
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const hired = await send(here, "hire", { command: { name: "hire" } });
  expect(endOf(hired)).toBe("success");

  const answers: Promise<Answer>[] = [];
  const cycle = send(here, "cycle", { command: { name: "cycle", args: { durationMs: 60_000 } } });
  answers.push(cycle);
  const stopCycle = async () => {
    const answer = await actor.stop("sentinel", threadId, { runId: `${threadId}/cycle` });
    expect(answer.status).toBe(200);
  };
  const mutation = (id: string) => ({ command: { name: "sync", clientMutationId: id } });
  const settings = (id: string) => ({ settings: { watch: [id] } });

  const doing = acts.map(async ({ act, afterMs }, index) => {
    const name = `${act} ${index}`;
    // Not to wait for something: the moment is what is tried.
    if (afterMs > 0) await wait(afterMs);
    switch (act) {
      case "stop by its name":
        return stopCycle();
      case "stop the thread":
        // Requests that are on their way overtake each other: without a name, a stop is for what was there before it.
        await begun;
        return void (await actor.stop("sentinel", threadId));
      case "sync": {
        const answer = await send(actor, name, mutation(name), settings(name));
        answers.push(Promise.resolve(answer));
        if (endOf(answer) === "busy") await stopCycle();
        return;
      }
      case "enqueued sync": {
        const answer = send(actor, name, { ...mutation(name), strategy: "enqueue" }, settings(name));
        answers.push(answer);
        await stopCycle();
        return void (await answer);
      }
      case "fire":
        answers.push(send(actor, name, { command: { name: "fire" } }));
    }
  });
  await Promise.all(doing);
  const wasStopped = acts.some(({ act }) => act.startsWith("stop"));
  // A sync may have come first, and the cycle after it.
  if (!wasStopped) await stopCycle();

  const ends = new Map((await Promise.all(answers)).map((answer) => [answer.name, endOf(answer)]));
  const wasFired = acts.some(({ act }) => act === "fire");
  // Let in after a fire, the cycle has nothing to do and may be over before its stop comes.
  expect(["cancelled", "busy", ...(wasFired ? ["success"] : [])]).toContain(ends.get("cycle"));
  const mayBeCancelled = acts.some(({ act }) => act === "stop the thread" || act === "fire");
  for (const [name, end] of ends) {
    if (name.startsWith("enqueued"))
      expect(mayBeCancelled ? ["success", "cancelled"] : ["success"]).toContain(end);
  }
  await expectOneAtATime(here, threadId);
  const last = await send(here, "last", { command: { name: "hire" } });
  expect(endOf(last)).toBe("success");
}

/** How a stream ended: every one has one end, and nothing after it. */
function endOf({ name, events }: Answer): string {
  const terminals = events.filter(({ data }) => data.type === "RUN_FINISHED" || data.type === "RUN_ERROR");
  expect(terminals, name).toHaveLength(1);
  const { data = {} } = events.at(-1) ?? {};
  expect(data.type, name).toBe(terminals[0]?.data.type);
  if (data.type === "RUN_ERROR") return String(data.code);
  const metadata = data.metadata as { throughline?: { status?: string } } | undefined;
  return metadata?.throughline?.status ?? "unknown";
}

/** R24, as the log tells it. */
async function expectOneAtATime(routes: AgentRoutes, threadId: string): Promise<void> {
  const entries = await readEvents(await routes.events("sentinel", threadId));
  expect(entries.length).toBeGreaterThan(0);
  let open: unknown;
  for (const { data } of entries) {
    if (data.type === "run_start") {
      expect([undefined, data.run_id]).toContain(open);
      open = data.run_id;
    } else expect(data.run_id).toBe(open);
    if (data.type === "run_end") open = undefined;
  }
  expect(open).toBeUndefined();
}
