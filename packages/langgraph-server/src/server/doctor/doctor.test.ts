import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newCronSchema } from "../../crons/cron-definition.js";
import { readConfig } from "../../settings/server-config.js";
import { ann, openServiceScene } from "../../testing/service-scene.js";
import { openTestPostgres, type TestPostgres } from "../../testing/test-postgres.js";
import { startTestServer } from "../../testing/test-server.js";
import { checkDatabase, type DatabaseCheckOptions } from "./check-database.js";
import { checkDisk, checkGraphs, checkLitellm, checkNode, checkPort, checkRedis } from "./examine.js";

/** Answers every request with one status: a proxy as far as the doctor looks. */
async function answering(status: number): Promise<Server> {
  const server = createServer((_, response) => response.writeHead(status).end("{}"));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}
const portOf = (server: Server) => (server.address() as AddressInfo).port;

describe("the machine", () => {
  it("needs a Node that is new enough", () => {
    expect(checkNode("20.19.0").status).toBe("ok");
    expect(checkNode("24.0.0").status).toBe("ok");
    expect(checkNode("20.18.1")).toMatchObject({ status: "fail", fix: expect.stringContaining("20.19") });
  });

  it("needs a port that is free, or taken by a server of ours", async () => {
    const other = await answering(200);
    expect(await checkPort("127.0.0.1", portOf(other))).toMatchObject({
      status: "fail",
      fix: expect.stringContaining("--port"),
    });
    other.close();
    const ours = await startTestServer();
    const found = await checkPort("127.0.0.1", Number(new URL(ours.url).port));
    expect(found).toMatchObject({ status: "ok", said: expect.stringContaining("answers at") });
    await ours.close();
    expect((await checkPort("127.0.0.1", 0)).status).toBe("ok");
  });

  it("tells how much room there is, also for a folder that is not there yet", async () => {
    expect(await checkDisk(join(tmpdir(), "not", "there"))).toMatchObject({
      said: expect.stringMatching(/GB are free at/),
    });
  });
});

describe("the database", () => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await openTestPostgres();
  }, 60_000);
  afterAll(() => postgres.close());

  const check = (options?: DatabaseCheckOptions, databaseUrl = postgres.url) =>
    checkDatabase({ databaseUrl, dataDir: undefined }, options);
  const about = async (subject: string, databaseUrl?: string) =>
    (await check({}, databaseUrl)).filter((finding) => finding.subject === subject);
  async function query(statement: string): Promise<void> {
    const options = "-c default_transaction_read_only=off";
    const client = new pg.Client({ connectionString: postgres.url, options });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }
  const name = () => new URL(postgres.url).pathname.slice(1);

  it("answers, is on time, takes writes and connections, and says what will be made in it", async () => {
    const findings = await check();
    expect(findings.map(({ subject, status }) => `${subject} ${status}`)).toEqual([
      "database ok",
      "clock ok",
      "writes ok",
      "connections ok",
      "sessions ok",
      "tables ok",
      "rows ok",
      "pooler ok",
    ]);
    const other = new URL(postgres.url);
    other.pathname = "/not_there";
    expect(await check({}, other.href)).toMatchObject([
      { status: "fail", fix: expect.stringContaining("createdb") },
    ]);
  });

  it("may be off by seconds, and is told when it is more than five", async () => {
    const off = (ms: number) => ({ clock: { ...systemClock, now: () => systemClock.now() - ms } });
    const clockOf = async (ms: number) => (await check(off(ms))).find(({ subject }) => subject === "clock");
    expect(await clockOf(3_000)).toMatchObject({ status: "ok" });
    expect(await clockOf(60_000)).toMatchObject({
      status: "warn",
      fix: expect.stringContaining("timedatectl"),
    });
  });

  it("that takes the connection and says nothing is given up after its deadline", async () => {
    const silent = createSocketServer();
    await new Promise<void>((ready) => silent.listen(0, "127.0.0.1", ready));
    const { port } = silent.address() as AddressInfo;
    const findings = await check({ deadlineMs: 300 }, `postgres://me@127.0.0.1:${port}/x`);
    expect(findings).toMatchObject([{ status: "fail", said: "PostgreSQL does not answer within 0.3 s." }]);
    silent.close();
  });

  it("that is read-only can't be served from", async () => {
    await query(`alter database ${name()} set default_transaction_read_only = on`);
    expect(await about("writes")).toMatchObject([
      { status: "fail", fix: expect.stringContaining("reset default_transaction_read_only") },
    ]);
    await query(`alter database ${name()} reset default_transaction_read_only`);
  });

  it("that ends idle transactions early is told of", async () => {
    await query(`alter database ${name()} set idle_in_transaction_session_timeout = '200ms'`);
    expect(await about("sessions")).toMatchObject([
      { status: "warn", said: expect.stringContaining("200 ms"), fix: expect.stringContaining("alter role") },
    ]);
    await query(`alter database ${name()} reset idle_in_transaction_session_timeout`);
  });

  it("needs as many connections as an instance opens", async () => {
    const role = `${name()}_guest`;
    await query(`create role ${role} login password 'hunter2' connection limit 10`);
    const guest = new URL(postgres.url);
    guest.username = role;
    guest.password = "hunter2";
    expect(await about("connections", guest.href)).toMatchObject([
      { status: "fail", said: "The database allows 10 of them; an instance opens up to 27." },
    ]);
    await query(`alter role ${role} connection limit -1`);
    expect(await about("connections", guest.href)).toMatchObject([{ status: "ok" }]);
    await query(`drop role ${role}`);
  });

  it("may hold rows that can't be read: they are named, with what to do", async () => {
    const { service } = await openServiceScene({ store: { kind: "postgres", databaseUrl: postgres.url } });
    const definition = newCronSchema.parse({ agent: "poet", schedule: "every 1 d" });
    const [{ cron: good }, { cron: bad }] = [
      await service.crons.create(ann, definition),
      await service.crons.create(ann, definition),
    ];
    await service.close({ drainMs: 0 });
    expect(await about("rows")).toMatchObject([{ status: "ok" }]);
    await query(`update throughline.crons set definition = '{' where cron_id = '${bad.id}'`);
    await query(
      `insert into throughline.runs (run_id, account, subject, thread_id, graph_id, origin_kind, status, start_kind, request)
       select 'run-' || n, 'acme', '', 't' || n, 'langgraph:poet', 'client', 'success', 'input', '{' from generate_series(1, 7) n`,
    );
    const findings = await about("rows");
    expect(findings).toMatchObject([
      { status: "warn", said: `1 row of crons can't be read: ${bad.id}` },
      {
        status: "warn",
        said: expect.stringMatching(/^7 rows of runs .*: run-7, .*…$/),
        fix: expect.stringContaining("run_id"),
      },
    ]);
    expect(JSON.stringify(findings)).not.toContain(good.id);
  }, 60_000);

  it("of a newer version is told of as a start would, whichever component has changed it", async () => {
    const start = async () => {
      const { service } = await openServiceScene({ store: { kind: "postgres", databaseUrl: postgres.url } });
      await service.close({ drainMs: 0 });
    };
    await start();
    for (const record of ["migrations", "server_migrations"]) {
      await query(`insert into throughline.${record} (id) values (9999)`);
      const [finding] = await about("tables");
      expect(finding).toMatchObject({
        status: "fail",
        said: expect.stringContaining(`throughline.${record} has 9999`),
      });
      await expect(start()).rejects.toThrow(`${finding?.said} ${finding?.fix}`);
      await query(`update throughline.${record} set runs_with = 1 where id = 9999`);
      expect(await about("tables")).toMatchObject([
        { status: "ok", said: expect.stringContaining("says that this one runs on them") },
      ]);
      await start();
      await query(`delete from throughline.${record} where id = 9999`);
    }
    expect(await about("tables")).toMatchObject([{ status: "ok", said: "They are up to date." }]);
  }, 60_000);

  it("is not there: says what to check, never the password", async () => {
    const findings = await checkDatabase({
      databaseUrl: "postgres://me:hunter2@127.0.0.1:9/x",
      dataDir: undefined,
    });
    expect(findings).toMatchObject([
      { status: "fail", fix: expect.stringContaining("LANGGRAPH_DATABASE_URL") },
    ]);
    expect(JSON.stringify(findings)).not.toContain("hunter2");
  });
});

describe("services", () => {
  it("are optional", async () => {
    expect((await checkRedis(undefined)).map(({ status }) => status)).toEqual(["ok"]);
    expect((await checkLitellm(readConfig({}))).status).toBe("ok");
  });

  it("that are named must answer, but for Redis, without which everything goes on", async () => {
    expect(await checkRedis("redis://127.0.0.1:9,127.0.0.1:10")).toMatchObject([
      {
        status: "warn",
        said: expect.stringMatching(/^127\.0\.0\.1:9 can't be reached\./),
        fix: expect.stringContaining("REDIS_URL"),
      },
      { status: "warn", said: expect.stringMatching(/^127\.0\.0\.1:10 can't be reached\./) },
    ]);
    const lost = readConfig({
      LITELLM_BASE_URL: "http://127.0.0.1:9",
      LITELLM_API_KEY: "k",
      LANGGRAPH_DEV_URL: "http://127.0.0.1:9",
    });
    expect(await checkLitellm(lost)).toMatchObject({ status: "fail" });
    expect(await checkGraphs(lost, undefined)).toMatchObject({
      status: "fail",
      fix: expect.stringContaining("LANGGRAPH_DEV_URL"),
    });
  });

  it.each([
    [200, "ok", undefined],
    [401, "fail", "Set LITELLM_API_KEY to a valid key."],
    [404, "warn", "Check LITELLM_BASE_URL: it should end where /models follows."],
  ])("LiteLLM that answers %i is %s", async (code, status, fix) => {
    const proxy = await answering(code);
    const config = readConfig({
      LITELLM_BASE_URL: `http://127.0.0.1:${portOf(proxy)}`,
      LITELLM_API_KEY: "k",
    });
    expect(await checkLitellm(config)).toMatchObject({ status, ...(fix && { fix }) });
    proxy.close();
  });
});
