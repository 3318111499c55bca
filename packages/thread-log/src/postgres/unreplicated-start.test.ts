import { randomUUID } from "node:crypto";
import { isStoreOutage } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventually } from "../conformance/eventually.js";
import { newThread } from "../conformance/log-scene.js";
import { hello } from "../conformance/registry-scene.js";
import type { StartRun } from "../registry/run-registry.js";
import { launchOwnPostgres, type OwnServer } from "../testing/own-postgres.js";
import { openPostgres, type PostgresDatabase } from "./database.js";
import { createPostgresRunRegistry } from "./registry/run-registry.js";

let server: OwnServer;
let database: PostgresDatabase;
let outside: pg.Client;
beforeAll(async () => {
  server = await launchOwnPostgres();
  database = await openPostgres({ connection: server.url });
  outside = new pg.Client({ connectionString: server.url });
  await outside.connect();
});
afterAll(async () => {
  await outside?.end();
  await database?.close();
  await server?.stop();
});

/** With a name, every commit waits for a replica of that name; there is none. */
async function replicateTo(name: string): Promise<void> {
  await outside.query(`alter system set synchronous_standby_names = '${name}'`);
  await outside.query("select pg_reload_conf()");
}

/** The session whose commit waits for a replica. */
async function waitingForReplica(): Promise<number> {
  return eventually(async () => {
    const { rows } = await outside.query<{ pid: number }>(
      "select pid from pg_stat_activity where wait_event = 'SyncRep'",
    );
    const [row] = rows;
    if (!row) throw new Error("No commit waits for a replica.");
    return row.pid;
  });
}

/** The server takes a setting up a while after it was told to. */
async function untilCommitsWait(): Promise<void> {
  const probe = new pg.Client({ connectionString: server.url });
  probe.on("error", () => {});
  await probe.connect();
  const ended = (async () => {
    for (;;) await probe.query("select pg_logical_emit_message(true, 'probe', '')");
  })().catch(() => {});
  await outside.query("select pg_terminate_backend($1)", [await waitingForReplica()]);
  await ended;
}

it("A start whose answer was lost is not answered before a replica has what it wrote", async () => {
  const registry = createPostgresRunRegistry(database);
  const request: StartRun = {
    owner: "here",
    leaseMs: 60_000,
    thread: newThread(),
    stateKey: "chat/main",
    runId: randomUUID(),
    alias: "the client's name",
    graphId: "langgraph:chat",
    origin: { kind: "client" },
    start: hello,
    request: { model: "m" },
    strategy: "reject",
    listing: { threadName: "main", derivedTitle: undefined },
  };
  const look = await registry.look({ ...request, answers: [] });
  await replicateTo("replica");
  await untilCommitsWait();
  const first = registry.start(request, look).catch((error: unknown) => error);
  // The connection breaks while the commit waits: the row is there, and a failover would lose it.
  await outside.query("select pg_terminate_backend($1)", [await waitingForReplica()]);
  expect(isStoreOutage(await first)).toBe(true);
  expect((await registry.find(request.thread, { runId: request.runId }))?.status).toBe("running");

  let answered = false;
  const second = registry.start({ ...request, isRetry: true }, look).finally(() => {
    answered = true;
  });
  await waitingForReplica();
  expect(answered).toBe(false);
  await replicateTo("");
  await expect(second).resolves.toMatchObject({ kind: "started", run: { runId: request.runId } });
});
