import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  isType,
  readEvents,
  type SseEvent,
  sseEvents,
  typesOf,
} from "../../packages/langgraph-server/src/testing/sse-events.js";
import { talk } from "./graphs/talker.js";
import { type AgentRoutes, agentRoutes, said } from "./rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "./rig/start-postgres.js";
import { type RigServer, startServer } from "./rig/start-server.js";
import { trimLog } from "./rig/trim-log.js";

const STAGE = new URL("./graphs/stage.ts", import.meta.url);

let postgres: RigPostgres;
let databaseUrl: string;
let server: RigServer;
let routes: AgentRoutes;
beforeAll(async () => {
  postgres = await startPostgres();
  databaseUrl = await postgres.createDatabase();
  server = await startInstance();
  routes = agentRoutes(server.url);
});
afterAll(async () => {
  await server.stop();
  await postgres.stop();
});

/** Each has a memory of its own; the database is all that they share. */
const startInstance = () => startServer({ databaseUrl, graphs: STAGE, leaseMs: 2_000, reapEveryMs: 500 });
const newThread = () => randomUUID();
/** Unsampled, so that every token is a frame of its own. */
const UNSAMPLED = { forwardedProps: { throughline: { profile: "debug" } } };
const asking = (threadId: string, content: string, more: object = {}) => ({
  threadId,
  messages: [said(`m-${threadId}`, content)],
  ...more,
});
const withIds = (events: readonly SseEvent[]) => events.filter(({ id }) => id !== undefined);
const cursorAt = (cursor: string | undefined) => ({ "last-event-id": cursor ?? "" });
const textOf = (events: readonly SseEvent[]) =>
  events
    .filter(isType("TEXT_MESSAGE_CONTENT"))
    .map(({ data }) => data.delta)
    .join("");
const snapshotOf = (events: readonly SseEvent[]) => {
  // A parsed boundary: our own frame.
  const messages = (events.find(isType("MESSAGES_SNAPSHOT"))?.data.messages ?? []) as { content: string }[];
  return messages.map(({ content }) => content);
};
const saidAll = (words: number, size = 8) =>
  Array.from({ length: words }, (_, index) => `${index}:`.padEnd(size, "x")).join(" ");

describe("peers' bugs: reading a stream", () => {
  it("1: what is written between the reading of history and the subscription to what is new is not lost", async () => {
    const threadId = newThread();
    const running = routes.run("talker", asking(threadId, talk({ words: 200, paceMs: 2 }), UNSAMPLED));
    const starter = sseEvents(await running);
    const watchers: Promise<SseEvent[]>[] = [];
    // A client joins whenever something was said.
    for await (const { data } of starter) {
      if (data.type === "RUN_FINISHED") break;
      if (data.type === "TEXT_MESSAGE_CONTENT" && watchers.length < 60)
        watchers.push(routes.events("talker", threadId).then((response) => readEvents(response)));
    }
    const whole = (await readEvents(await routes.events("talker", threadId))).map(({ id }) => id);
    expect(watchers.length).toBeGreaterThan(20);
    for (const seen of await Promise.all(watchers)) expect(seen.map(({ id }) => id)).toEqual(whole);
  });

  it("2: a cursor older than what is kept is answered with a snapshot, not with a hole", async () => {
    const threadId = newThread();
    const first = await readEvents(await routes.run("talker", asking(threadId, talk({ words: 3 }))));
    const again = { threadId, messages: [said("second", talk({ words: 4 }))] };
    await readEvents(await routes.run("talker", again));
    expect(await trimLog(databaseUrl, { agent: "talker", threadId, keep: 1 })).toBeGreaterThan(5);
    const cursor = withIds(first)[2]?.id;
    // The instance that ran it may have it in memory still; another one has what the log has.
    const other = await startInstance();
    try {
      const events = await readEvents(
        await agentRoutes(other.url).connect("talker", { threadId }, cursorAt(cursor)),
      );
      expect(typesOf(events)).toEqual(["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
      expect(snapshotOf(events)).toEqual([talk({ words: 3 }), saidAll(3), talk({ words: 4 }), saidAll(4)]);
    } finally {
      await other.stop();
    }
    const here = await readEvents(await routes.connect("talker", { threadId }, cursorAt(cursor)));
    expect(snapshotOf(here).at(-1) ?? textOf(here)).toContain(saidAll(4));
  });

  it("3: a cursor from before a restart counts, one of another log is answered with a snapshot", async () => {
    const threadId = newThread();
    const whole = withIds(await readEvents(await routes.run("talker", asking(threadId, talk({ words: 5 })))));
    await server.kill();
    await server.restart();
    const cursor = whole[1]?.id;
    const rest = await readEvents(await routes.connect("talker", { threadId }, cursorAt(cursor)));
    expect(withIds(rest)).toEqual(whole.slice(2));
    const other = cursor?.replace(/^[^.]+/, "another-log");
    const all = await readEvents(await routes.connect("talker", { threadId }, cursorAt(other)));
    expect(snapshotOf(all)).toEqual([talk({ words: 5 }), saidAll(5)]);
  });

  it("4: events of one millisecond all come, in order", async () => {
    const threadId = newThread();
    await readEvents(await routes.run("talker", asking(threadId, talk({ words: 300 }), UNSAMPLED)));
    const entries = await readEvents(await routes.events("talker", threadId));
    const times = entries.map(({ data }) => data.ts);
    expect(new Set(times).size).toBeLessThan(times.length);
    const seqs = entries.map(({ id }) => Number(id?.split(".")[1]));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    const said = entries.flatMap(({ data }) => (data.type === "llm_token" ? [data.payload] : []));
    expect(said.map((payload) => String((payload as { text?: string }).text ?? "")).join("")).toBe(
      saidAll(300),
    );
  });

  it("5: two who join one run both get all of it", async () => {
    const threadId = newThread();
    const body = asking(threadId, talk({ words: 40, paceMs: 5 }), { runId: newThread() });
    const running = await routes.run("talker", body);
    const joined = await Promise.all([routes.run("talker", body), routes.run("talker", body)]);
    const [whole, ...others] = await Promise.all(
      [running, ...joined].map((response) => readEvents(response)),
    );
    expect(textOf(whole ?? [])).toBe(saidAll(40));
    for (const other of others) expect(other).toEqual(whole);
  });

  it("6: what happens inside a subgraph still comes after a reconnect", async () => {
    const threadId = newThread();
    const whole = withIds(
      await readEvents(await routes.run("travel", asking(threadId, "from Amsterdam to San Francisco"))),
    );
    const inside = whole.findIndex(({ data }) => String(data.stepName).startsWith("flights_agent"));
    expect(inside).toBeGreaterThan(0);
    const cursor = whole[inside]?.id;
    const rest = await readEvents(await routes.connect("travel", { threadId }, cursorAt(cursor)));
    expect(withIds(rest)).toEqual(whole.slice(inside + 1));
    expect(rest.some(({ data }) => String(data.stepName).startsWith("flights_agent/"))).toBe(true);
  });

  it("15: no delta is delivered twice, however often one reconnects", async () => {
    const threadId = newThread();
    const whole = withIds(
      await readEvents(await routes.run("talker", asking(threadId, talk({ words: 12 }), UNSAMPLED))),
    );
    for (const [index, { id }] of whole.entries()) {
      const rest = await readEvents(await routes.connect("talker", { threadId }, cursorAt(id)));
      expect(withIds(rest)).toEqual(whole.slice(index + 1));
      expect(typesOf(rest.filter((event) => event.id === undefined))).not.toContain("TEXT_MESSAGE_CONTENT");
    }
  });

  it("16: a cut between two frames of one entry loses neither", async () => {
    const threadId = newThread();
    const whole = withIds(await readEvents(await routes.run("talker", asking(threadId, talk({ words: 3 })))));
    const entryOf = ({ id }: SseEvent) => id?.split(".").slice(0, 2).join(".");
    const split = whole.findIndex((event, index) => {
      const next = whole[index + 1];
      return next !== undefined && entryOf(next) === entryOf(event);
    });
    expect(split).toBeGreaterThan(-1);
    const cursor = whole[split]?.id;
    const rest = await readEvents(await routes.connect("talker", { threadId }, cursorAt(cursor)));
    expect(withIds(rest)).toEqual(whole.slice(split + 1));
  });

  it("17: a reconnect under other options is answered with a snapshot in the new ones", async () => {
    const threadId = newThread();
    const whole = withIds(await readEvents(await routes.run("talker", asking(threadId, talk({ words: 3 })))));
    const cursor = whole[1]?.id;
    const other = { threadId, protocolVersion: "1.0" };
    const events = await readEvents(await routes.connect("talker", other, cursorAt(cursor)));
    expect(snapshotOf(events)).toEqual([talk({ words: 3 }), saidAll(3)]);
    const interrupts = { threadId, forwardedProps: { throughline: { interrupts: "both" } } };
    const both = await readEvents(await routes.connect("talker", interrupts, cursorAt(cursor)));
    expect(snapshotOf(both)).toEqual([talk({ words: 3 }), saidAll(3)]);
  });

  it("18: a run still has an end for who asks for it after its log is gone", async () => {
    const threadId = newThread();
    const body = asking(threadId, talk({ words: 3 }), { runId: "expired" });
    const first = await readEvents(await routes.run("talker", body));
    await readEvents(await routes.run("talker", { threadId, messages: [said("2", talk({ words: 1 }))] }));
    await trimLog(databaseUrl, { agent: "talker", threadId, keep: 1 });
    const again = await readEvents(await routes.run("talker", body));
    expect(first.at(-1)?.data.type).toBe("RUN_FINISHED");
    expect(again.at(-1)?.data.type).toBe("RUN_FINISHED");
    expect(typesOf(again).filter((type) => type === "RUN_STARTED")).toHaveLength(1);
  });

  it("20: what is said travels once, and ten megabytes of it still reach who comes late", async () => {
    const threadId = newThread();
    const size = 100_000;
    const running = await routes.run("talker", asking(threadId, talk({ words: 100, size, paceMs: 1 })));
    const bytes = (await running.arrayBuffer()).byteLength;
    expect(bytes).toBeGreaterThan(100 * size);
    expect(bytes).toBeLessThan(1.2 * 100 * size);
    const late = await readEvents(await routes.connect("talker", { threadId }));
    expect(snapshotOf(late).at(-1)).toBe(saidAll(100, size));
    expect(late.at(-1)?.data.type).toBe("RUN_FINISHED");
  });

  it.each([
    ["-1", "-1"],
    ["empty", ""],
    ["zero", "0"],
    ["garbage", "%%%;--\u00e9"],
    ["huge", "9".repeat(4_000)],
    ["beyond the end", "epoch.999999999999.0.0l"],
    ["of a negative place", "epoch.-5.-1.0l"],
  ])("22: Last-Event-ID %s is answered with everything", async (_, cursor) => {
    const threadId = "cursors";
    await readEvents(await routes.run("talker", asking(threadId, talk({ words: 3 }), { runId: "cursors" })));
    const byHeader = await routes.connect("talker", { threadId }, { "last-event-id": cursor });
    expect(snapshotOf(await readEvents(byHeader))).toEqual([talk({ words: 3 }), saidAll(3)]);
    const entries = await routes.events("talker", threadId, undefined, { "last-event-id": cursor });
    expect((await readEvents(entries)).length).toBeGreaterThan(3);
  });

  it("23: nothing that a client or a model says becomes a line of the stream itself", async () => {
    const lines = "\n\nevent: forged\nid: forged\rdata: {}\r\n\r\nretry: 1";
    const threadId = `injected${lines}`;
    const refused = await routes.run("poet", { threadId, messages: [] });
    expect(refused.status).toBe(400);
    const runId = await routes.run("poet", { threadId: "injection", runId: `run${lines}`, messages: [] });
    expect(runId.status).toBe(400);
    const body = { threadId: "injection", messages: [said("injection", `of ${lines}`)], state: { lines } };
    const texts = [
      await (await routes.run("poet", body)).text(),
      await (await routes.connect("poet", { threadId: "injection", runId: "r" })).text(),
      await (await routes.events("poet", "injection")).text(),
    ];
    for (const text of texts) {
      expect(text).toContain("forged");
      for (const line of text.split(/\r\n|\r|\n/)) {
        expect(line).toMatch(/^(?:$|: |id: [\w.-]+$|event: \w+$|data: \{)/);
      }
      expect(text).not.toMatch(/^(?:event|id): forged/m);
    }
  });
});
