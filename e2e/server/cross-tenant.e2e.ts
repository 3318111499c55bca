import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Handler } from "@throughline/langgraph-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  isType,
  readEvents,
  type SseEvent,
  sseEvents,
} from "../../packages/langgraph-server/src/testing/sse-events.js";
import { talk } from "./graphs/talker.js";
import { type AgentRoutes, agentRoutes, said } from "./rig/agent-routes.js";
import { parseFrames } from "./rig/cut-stream.js";
import { tableOfRoutes } from "./rig/route-table.js";
import { seededRandom } from "./rig/seeded-random.js";
import { type RigPostgres, startPostgres } from "./rig/start-postgres.js";
import { type RigServer, startServer } from "./rig/start-server.js";
import { eachTrial, SEED, trialsOr } from "./rig/trials.js";

const STAGE = new URL("./graphs/stage.ts", import.meta.url);
const SECRET = "the-owners-secret-words";
const ACCOUNT = "owner";
const OWNER = { "x-throughline-account": ACCOUNT, "x-throughline-subject": "ann" };
const JSON_TYPE = { "content-type": "application/json" };

type Table = Handler["routes"][number];

/** Names of another caller's things, or of things that do not exist. */
interface Names {
  readonly thread: string;
  readonly run: string;
  readonly interrupt: string;
  readonly cron: string;
  readonly attachment: string;
  readonly checkpoint: string;
}

let postgres: RigPostgres;
let server: RigServer;
let routes: AgentRoutes;
let table: readonly Table[];
let owned: readonly Names[];
let open: AsyncGenerator<SseEvent>;

beforeAll(async () => {
  postgres = await startPostgres();
  server = await startServer({
    databaseUrl: await postgres.createDatabase(),
    graphs: STAGE,
    // What is limited here is who sees what, not how much.
    env: { THROUGHLINE_MAX_CONCURRENT_RUNS: "100000", THROUGHLINE_MAX_WATCHERS: "100000" },
  });
  routes = agentRoutes(server.url);
  table = await tableOfRoutes();
  owned = await ownThings();
});
afterAll(async () => {
  await server.stop();
  await postgres.stop();
});

/** A thread that is done, one that speaks and one that asks; a cron and a file. */
async function ownThings(): Promise<Names[]> {
  const send = (agent: string, thread: string, run: string, content: string) =>
    routes.run(
      agent,
      { threadId: thread, runId: run, protocolVersion: "1.0", messages: [said(`m-${run}`, content)] },
      OWNER,
    );
  await readEvents(await send("poet", "ann:done", "ann:done:run", SECRET));
  await readEvents(await send("talker", "ann:talked", "ann:talked:run", talk({ words: 2 })));
  const asked = await readEvents(await send("careful", "ann:asks", "ann:asks:run", SECRET));
  open = sseEvents(await send("talker", "ann:open", "ann:open:run", talk({ words: 100_000, paceMs: 20 })));
  while ((await open.next()).value?.data.type !== "TEXT_MESSAGE_CONTENT");
  const { outcome } = asked.at(-1)?.data ?? {};
  // A parsed boundary: our own frame.
  const [interrupt] = (outcome as { interrupts: { id: string }[] }).interrupts;
  const cron = await owner("POST", "/crons", { ...CRON, input: { message: SECRET } });
  const attachment = await fetch(`${server.url}/agents/talker/threads/ann:open/attachments`, {
    method: "POST",
    headers: { ...OWNER, "content-type": "text/plain" },
    body: SECRET,
  });
  const state = await owner("GET", "/agents/talker/threads/ann:talked/state");
  const rest = {
    interrupt: interrupt?.id ?? "",
    cron: String(cron.id),
    // A parsed boundary: our own answer.
    attachment: ((await attachment.json()) as { id: string }).id,
    checkpoint: String(state.checkpointId),
  };
  return ["ann:done", "ann:talked", "ann:asks", "ann:open"].map((thread) => ({
    thread,
    run: `${thread}:run`,
    ...rest,
  }));
}

const CRON = { agent: "talker", schedule: "0 0 1 1 *" };

async function owner(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { ...OWNER, ...JSON_TYPE },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Names of things that do not exist, in the same shape. */
function nobodys(): Names {
  return {
    thread: randomUUID(),
    run: randomUUID(),
    interrupt: randomUUID().replaceAll("-", ""),
    cron: randomUUID(),
    attachment: randomUUID(),
    checkpoint: randomUUID(),
  };
}

/** Any caller but the owner, a new one each time: another account, or another person of the account. */
function stranger(random: () => number): Record<string, string> {
  const name = randomUUID();
  const [account, subject] = pick<readonly [string, string?]>(random, [
    [name],
    [name, "ann"],
    [ACCOUNT, name],
    [ACCOUNT, `ann-${name}`],
    [`${ACCOUNT}-${name}`, "ann"],
    [`${ACCOUNT}_ann_${name}`],
  ]);
  return {
    "x-throughline-account": account,
    ...(subject !== undefined && { "x-throughline-subject": subject }),
  };
}

function pick<T>(random: () => number, options: readonly [T, ...T[]]): T {
  return options[Math.floor(random() * options.length)] ?? options[0];
}

interface Probe {
  readonly method: string;
  path(names: Names): string;
  body(names: Names): object | undefined;
}

/** A request to a route that names what it is told, in all ways in which a client may name it. */
function probeOf({ method, path, isStream }: Table, random: () => number): Probe {
  const agent = pick(random, ["talker", "talker", "poet", "careful", "langgraph:talker"]);
  const body = pick(random, bodiesOf(path));
  return {
    method,
    path(names) {
      const filled = path.replaceAll(/:(\w+)/g, (_, name: string) =>
        encodeURIComponent(paramOf(name, path, names, agent)),
      );
      const query = isStream && method === "GET" ? "?follow=false" : "";
      return `${filled}${query}`;
    },
    body: (names) => (method === "GET" || method === "DELETE" ? undefined : body(names, agent)),
  };
}

function paramOf(name: string, path: string, names: Names, agent: string): string {
  if (name === "agentId") return agent;
  if (name === "threadId" || name === "threadName") return names.thread;
  if (path.includes("/crons")) return names.cron;
  if (path.includes("/attachments")) return names.attachment;
  if (path.includes("/threads")) return names.thread;
  return names.run;
}

type Body = (names: Names, agent: string) => object;
const message = said("probe", talk({ words: 1 }));
const run: Body = ({ thread, run: runId }) => ({ threadId: thread, runId, messages: [message] });
const poll: Body = ({ thread }) => ({
  threadId: thread,
  forwardedProps: { throughline: { command: { name: "poll" } } },
});
const stop: Body = ({ thread }) => ({
  threadId: thread,
  forwardedProps: { throughline: { command: { name: "stop" } } },
});
const answer: Body = ({ thread, interrupt }) => ({
  threadId: thread,
  resume: [{ interruptId: interrupt, status: "resolved", payload: "stolen" }],
});
const fork: Body = ({ thread, checkpoint }) => ({
  threadId: thread,
  messages: [message],
  forwardedProps: { throughline: { fork: { checkpointId: checkpoint } } },
});
const named: Body = ({ run: runId }) => ({ runId });
const nothing: Body = () => ({});
const single =
  (method: string, inner: Body): Body =>
  (names, agent) => ({
    method,
    params: { agentId: agent, threadId: names.thread, path: `/threads/${names.thread}?agentId=${agent}` },
    body: inner(names, agent),
  });

/** What a route takes, and nothing at all for a route that is not listed here. */
function bodiesOf(path: string): readonly [Body, ...Body[]] {
  if (path.endsWith("/run") && path.includes("/agent/")) return [run, poll, stop, answer, fork];
  if (path.endsWith("/connect")) return [run, nothing];
  if (path.includes("/stop/")) return [named, nothing];
  if (path === "/api/copilotkit") {
    return [
      single("agent/run", run),
      single("agent/run", answer),
      single("agent/connect", run),
      single("agent/stop", named),
      single("resource/request", nothing),
    ];
  }
  if (path === "/runs") {
    return [
      ({ thread, run: runId }, agent) => ({
        accountId: ACCOUNT,
        runId,
        stateKey: thread,
        graphName: agent.replace("langgraph:", ""),
        model: "throughline-offline",
        messages: [{ role: "user", content: talk({ words: 1 }) }],
        requestId: "probe",
        traceId: "probe",
      }),
    ];
  }
  if (path.endsWith("/fork"))
    return [({ checkpoint }) => ({ threadName: randomUUID(), checkpointId: checkpoint }), nothing];
  if (path === "/crons") return [({ thread }) => ({ ...CRON, threadName: thread })];
  return [nothing, () => ({ title: "stolen" }), () => ({ enabled: false })];
}

async function send(probe: Probe, names: Names, who: Record<string, string>) {
  const body = probe.body(names);
  const response = await fetch(`${server.url}${probe.path(names)}`, {
    method: probe.method,
    headers: { ...who, ...(body && JSON_TYPE) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

function isSameRequest(probe: Probe, one: Names, other: Names): boolean {
  return probe.path(one) === probe.path(other) && isDeepStrictEqual(probe.body(one), probe.body(other));
}

/** An answer without what differs from request to request anyway: ids, times, and the names it was asked for. */
function withoutNames(text: string, names: Names): string {
  let shown = /^(?:: |id: |event: |data: )/.test(text) ? JSON.stringify(wholeWords(text)) : text;
  for (const name of Object.values(names).sort((a, b) => b.length - a.length)) {
    shown = shown.replaceAll(name, "<name>").replaceAll(encodeURIComponent(name), "<name>");
  }
  return shown
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uuid>")
    .replaceAll(/[0-9a-f]{16,64}/g, "<hex>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/"ts":[\d.]+/g, '"ts":0')
    .replaceAll(/"retryAfterMs":\d+/g, '"retryAfterMs":0');
}

/** Events of a stream, with pieces of one text as one: where it is cut is a matter of time. */
function wholeWords(stream: string): object[] {
  const events: Record<string, unknown>[] = [];
  for (const { data } of parseFrames(Buffer.from(stream))) {
    const event: Record<string, unknown> = JSON.parse(data);
    const last = events.at(-1);
    for (const piece of ["delta", "text"]) {
      const isPiece = last?.type === event.type && typeof event[piece] === "string";
      if (isPiece) event[piece] = `${events.pop()?.[piece]}${event[piece]}`;
    }
    events.push(event);
  }
  return events;
}

describe("peers' bug 21: of another's threads, crons and files", () => {
  it("nobody reads anything, changes anything, is held up by anything, or can tell that it is there", async () => {
    const probed = new Set<string>();
    const order = seededRandom(SEED);
    const shuffled = table.map((route) => [order(), route] as const).sort(([a], [b]) => a - b);
    await eachTrial(Math.max(1_200, 12 * table.length), async (random, index) => {
      const route = shuffled[index % shuffled.length]?.[1];
      const theirs = owned[Math.floor(random() * owned.length)];
      if (!route || !theirs) throw new Error("Nothing to probe.");
      const probe = probeOf(route, random);
      const who = stranger(random);
      const where = `${route.method} ${route.path} ${JSON.stringify(probe.body(theirs))}`;
      const nobody = nobodys();
      const there = await send(probe, theirs, who);
      expect(there.status, where).toBeLessThan(500);
      expect(there.text, where).not.toContain(SECRET);
      expect(there.text, where).not.toContain(`m-${theirs.run}`);
      expect(there.text, where).not.toMatch(/"outcome":"(?:stopping|cancelled|ended)"/);
      probed.add(`${route.method} ${route.path}`);
      // The same request twice tells nothing of what is there: metrics move by themselves, and an export has the one before it.
      if (isSameRequest(probe, theirs, nobody)) return;
      const nowhere = await send(probe, nobody, who);
      expect({ ...there, text: withoutNames(there.text, theirs) }, where).toEqual({
        ...nowhere,
        text: withoutNames(nowhere.text, nobody),
      });
    });
    if (trialsOr(table.length) >= table.length) expect(probed.size).toBe(table.length);
  }, 1_200_000);

  it("and the owner finds everything as it was", async () => {
    const done = await readEvents(await routes.connect("poet", { threadId: "ann:done" }, OWNER));
    expect(JSON.stringify(done.find(isType("MESSAGES_SNAPSHOT"))?.data)).toContain(SECRET);
    const asks = { threadId: "ann:asks", protocolVersion: "1.0" };
    const asking = await readEvents(await routes.connect("careful", asks, OWNER));
    expect(JSON.stringify(asking.at(-1)?.data)).toContain(owned[0]?.interrupt);
    expect(await owner("GET", `/crons/${owned[0]?.cron}`)).toMatchObject({
      input: { message: SECRET },
      enabled: true,
    });
    const file = `/agents/talker/threads/ann:open/attachments/${owned[0]?.attachment}`;
    expect(await (await fetch(`${server.url}${file}`, { headers: OWNER })).text()).toBe(SECRET);
    // It still speaks, and only its owner stops it.
    expect((await open.next()).value?.data.type).toBe("TEXT_MESSAGE_CONTENT");
    const stopped = await routes.stop("talker", "ann:open", { runId: "ann:open:run" }, OWNER);
    expect(await stopped.json()).toMatchObject({ outcome: "stopping" });
    let last: SseEvent | undefined;
    for await (const event of open) last = event;
    expect(last?.data.type).toBe("RUN_FINISHED");
  });
});
