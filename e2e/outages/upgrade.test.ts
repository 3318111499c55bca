import { readFileSync } from "node:fs";
import pg from "pg";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import {
  readEvents,
  type SseEvent,
  typesOf,
} from "../../packages/langgraph-server/src/testing/sse-events.js";
import { startTestServer, type TestServer } from "../../packages/langgraph-server/src/testing/test-server.js";
import { openTestDatabase, type TestDatabase } from "../../packages/thread-log/src/testing/test-database.js";
import { agentRoutes } from "../server/rig/agent-routes.js";

/** What the service of that commit answered about a thread. */
interface Answered {
  readonly agent: string;
  readonly cursor: string;
  readonly replay: readonly Pick<SseEvent, "id" | "data">[];
  readonly envelopes: readonly SseEvent["data"][];
  readonly messages: readonly unknown[];
  readonly next: readonly string[];
}

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), "utf8");
// A parsed boundary: the fixture's own README says what it holds.
const { cron, replays } = JSON.parse(fixture("764d19a.json")) as {
  readonly cron: string;
  readonly replays: Readonly<Record<string, Answered>>;
};
const threads = Object.entries(replays).map(([name, answered]) => ({ name, ...answered }));

let database: TestDatabase;
let server: TestServer;
beforeAll(async () => {
  database = await openTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(fixture("764d19a.sql"));
  // As if that service had stopped a moment ago: nothing of it is past its retention.
  await client.query("update throughline.entries set at = now()");
  await client.query("update throughline.runs set ended_at = now() where ended_at is not null");
  await client.end();
  server = await startTestServer({ store: { kind: "postgres", databaseUrl: database.url }, leaseMs: 2_000 });
});
afterAll(async () => {
  await server?.close();
  await database?.close();
});

async function get(path: string): Promise<unknown> {
  const response = await fetch(`${server.url}${path}`);
  expect(response.status, path).toBe(200);
  return response.json();
}

/** A frame names a file by a link that is signed anew each time; it once named it by its id. */
function contentOf(frames: readonly Pick<SseEvent, "data">[]): unknown {
  const text = JSON.stringify(frames.map(({ data }) => data));
  return JSON.parse(text.replaceAll(/"(http:[^"]*\/files|throughline:attachment)\/[^"]*"/g, '"(a file)"'));
}

const connect = async (agent: string, threadId: string, lastSeenEventId: string) =>
  readEvents(await agentRoutes(server.url).connect(agent, { threadId, lastSeenEventId }));

it.each(threads)("replays the thread $name as the earlier version did", async (thread) => {
  const envelopes = await readEvents(await agentRoutes(server.url).events(thread.agent, thread.name));
  expect(envelopes.map(({ data }) => data).slice(0, thread.envelopes.length)).toEqual(thread.envelopes);
  const [epoch, , , face] = thread.cursor.split(".");
  const frames = await connect(thread.agent, thread.name, `${epoch}.0.0.${face}`);
  expect(contentOf(frames)).toEqual(contentOf(thread.replay));
});

it.each(threads)("lists the thread $name and shows its messages", async ({ agent, name, ...thread }) => {
  expect(await get(`/agents/${agent}/threads/${name}/state`)).toMatchObject({
    messages: thread.messages,
    next: thread.next,
  });
  const listed = (await get(`/agents/${agent}/threads`)) as { threads: readonly { threadName: string }[] };
  expect(listed.threads.map(({ threadName }) => threadName)).toContain(name);
});

it.each(threads)("goes on from a cursor that a viewer of $name has from before", async (thread) => {
  const frames = await connect(thread.agent, thread.name, thread.cursor);
  expect(typesOf(frames)).not.toContain("MESSAGES_SNAPSHOT");
  expect(frames.filter(({ id }) => id !== undefined)).toEqual([]);
  const middle = Math.floor(thread.replay.length / 2);
  const rest = await connect(thread.agent, thread.name, thread.replay[middle]?.id ?? "");
  expect(contentOf(rest.filter(({ id }) => id !== undefined))).toEqual(
    contentOf(thread.replay.slice(middle + 1)),
  );
});

it("serves a file from before", async () => {
  const id = /throughline:attachment\/([\w-]+)/.exec(JSON.stringify(replays.picture))?.[1];
  const file = await fetch(`${server.url}/agents/chat/threads/picture/attachments/${id}`);
  expect(Buffer.from(await file.arrayBuffer()).toString("hex")).toBe("89504e470d0a1a0a0102030405");
});

it("recovers the run that was in its middle", async () => {
  const shown = async () => {
    const { runs } = (await get("/agents/poet/threads/unfinished/runs")) as {
      runs: readonly { clientRunId: string; status: string; attempt: number }[];
    };
    return runs.find(({ clientRunId }) => clientRunId === "unfinished-run");
  };
  await vi.waitUntil(async () => (await shown())?.status === "success", { timeout: 20_000 });
  expect((await shown())?.attempt).toBe(1);
});

it("takes the answer to a question from before", async () => {
  const answer = { threadId: "trip", messages: [], forwardedProps: { command: { resume: "KLM" } } };
  const events = await readEvents(await agentRoutes(server.url).run("travel", answer));
  expect(typesOf(events).at(-1)).toBe("RUN_FINISHED");
});

it("lets a cron from before run", async () => {
  const resumed = await fetch(`${server.url}/crons/${cron}/resume`, { method: "POST" });
  expect(resumed.status).toBe(200);
  const ticks = async () =>
    ((await get(`/crons/${cron}/ticks?limit=10`)) as { ticks: readonly { runStatus: string }[] }).ticks;
  await vi.waitUntil(async () => (await ticks()).some(({ runStatus }) => runStatus === "success"), {
    timeout: 20_000,
  });
  await fetch(`${server.url}/crons/${cron}/pause`, { method: "POST" });
});

it("keeps a deleted thread deleted", async () => {
  expect((await fetch(`${server.url}/agents/poet/threads/gone/state`)).status).toBe(404);
});
