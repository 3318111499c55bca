import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { ThroughlineError } from "@throughline/ai-core";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inspectProcess } from "./postmaster.js";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./start.js";
import { itNeeds, rootIsMissing } from "./testing/it-needs.js";
import { killProcess } from "./testing/kill-process.js";
import { type MadeCluster, makeCluster } from "./testing/made-cluster.js";
import { makeTempFolder, type TempFolder } from "./testing/temp-folder.js";

let made: MadeCluster;
let folder: TempFolder;
let running: EmbeddedPostgres[];

beforeAll(async () => {
  made = await makeCluster();
});
afterAll(() => made?.remove());

beforeEach(() => {
  folder = makeTempFolder();
  running = [];
});

afterEach(async () => {
  for (const server of running) await server.stop();
  folder.remove();
});

async function start(dataDir = join(folder.path, "postgres"), log?: (line: string) => void) {
  const server = await startEmbeddedPostgres({ dataDir, ...(log ? { log } : {}) });
  running.push(server);
  return server;
}

/** In a folder where it ran before. */
function startMade(): Promise<EmbeddedPostgres> {
  made.copyTo(join(folder.path, "postgres"));
  return start();
}

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

async function failure(dataDir: string): Promise<ThroughlineError> {
  const error = await start(dataDir).then(
    () => expect.unreachable("it started"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ThroughlineError)) throw error;
  return error;
}

describe("an embedded PostgreSQL", () => {
  it("starts on an empty folder, says what it does, and writes to disk before it answers", async () => {
    const said: string[] = [];
    const server = await start(undefined, (line) => said.push(line));
    expect(server).toMatchObject({ adopted: false, version: expect.stringMatching(/^18\./) });
    expect(said.join("\n")).toMatch(/Creating a PostgreSQL 18.*\n.*runs on port/s);
    const settings = await query<{ name: string; setting: string }>(
      server.url,
      "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'listen_addresses', 'unix_socket_directories')",
    );
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: "on",
      synchronous_commit: "on",
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
    });
  });

  it("lets nobody in without its password, which only its own user can read", async () => {
    const server = await startMade();
    const url = new URL(server.url);
    const file = join(folder.path, "postgres", "cluster", "throughline.password");
    expect(readFileSync(file, "utf8")).toBe(url.password);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    url.password = "guess";
    await expect(query(url.href, "select 1")).rejects.toMatchObject({ code: "28P01" });
  });

  it("keeps its data and its port from one start to the next", async () => {
    const first = await startMade();
    await query(first.url, "create table kept (n int); insert into kept values (7)");
    await first.stop();
    expect(inspectProcess(first.pid)).toBeUndefined();
    const second = await start();
    expect(second.url).toBe(first.url);
    expect(await query(second.url, "select n from kept")).toEqual([{ n: 7 }]);
  });

  it("takes another port when its own is taken", async () => {
    const first = await startMade();
    await first.stop();
    const port = Number(new URL(first.url).port);
    const squatter = createServer().listen(port, "127.0.0.1");
    await new Promise((resolve) => squatter.once("listening", resolve));
    try {
      const second = await start();
      expect(new URL(second.url).port).not.toBe(String(port));
      expect(await query(second.url, "select 1 as one")).toEqual([{ one: 1 }]);
    } finally {
      squatter.close();
    }
  });

  it("recovers what was committed when the whole server is killed", async () => {
    const first = await startMade();
    await query(first.url, "create table kept (n int); insert into kept values (7)");
    await killProcess(first.pid);
    const second = await start();
    expect(await query(second.url, "select n from kept")).toEqual([{ n: 7 }]);
  });

  it("is started again on its port when it was killed, for everyone who uses it, and is stopped as ever", async () => {
    const lines: string[] = [];
    made.copyTo(join(folder.path, "postgres"));
    const [first, second] = [await start(undefined, (line) => lines.push(line)), await start()];
    await query(first.url, "create table kept (n int); insert into kept values (7)");
    const killed = first.pid;
    await killProcess(killed);
    await expect
      .poll(() => query(second.url, "select n from kept").catch(() => "away"), { interval: 100 })
      .toEqual([{ n: 7 }]);
    await expect.poll(() => second.pid).not.toBe(killed);
    await expect.poll(() => first.pid).toBe(second.pid);
    expect(lines).toContain(`PostgreSQL (process ${killed}) has ended; starting it again.`);
    await first.stop();
    expect(await query(second.url, "select n from kept")).toEqual([{ n: 7 }]);
    await second.stop();
    expect(inspectProcess(second.pid)).toBeUndefined();
  });

  it("stays stopped when it is stopped at once after it was killed", async () => {
    const server = await startMade();
    await killProcess(server.pid);
    await server.stop();
    expect(inspectProcess(server.pid)).toBeUndefined();
    await expect(query(server.url, "select 1")).rejects.toThrow("ECONNREFUSED");
  });

  it("makes no empty database where its folder was deleted under it", async () => {
    const lines: string[] = [];
    made.copyTo(join(folder.path, "postgres"));
    const server = await start(undefined, (line) => lines.push(line));
    await killProcess(server.pid);
    rmSync(join(folder.path, "postgres", "cluster"), { recursive: true });
    await expect.poll(() => lines.join("\n")).toContain("cluster is gone. Trying once more in 2 s.");
    expect(existsSync(join(folder.path, "postgres", "cluster"))).toBe(false);
  });

  it("is not misled by a pid that another program was given", async () => {
    const first = await startMade();
    await killProcess(first.pid);
    const pidFile = join(folder.path, "postgres", "cluster", "postmaster.pid");
    writeFileSync(pidFile, readFileSync(pidFile, "utf8").replace(/^\d+/, String(process.pid)));
    const second = await start();
    expect(second.pid).not.toBe(process.pid);
    expect(await query(second.url, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("refuses data of another major version and changes nothing", async () => {
    made.copyTo(join(folder.path, "postgres"));
    const cluster = join(folder.path, "postgres", "cluster");
    writeFileSync(join(cluster, "PG_VERSION"), "17\n");
    const before = readdirSync(cluster).toSorted();
    const { message } = await failure(join(folder.path, "postgres"));
    expect(message).toMatch(/was made by PostgreSQL 17.*this is PostgreSQL 18.*Nothing was changed/s);
    expect(message).toContain("LANGGRAPH_DATABASE_URL");
    expect(readdirSync(cluster).toSorted()).toEqual(before);
  });

  it("says what to do where there are no binaries for the platform", async () => {
    const platform = process.platform;
    Object.defineProperty(process, "platform", { value: "sunos" });
    try {
      const { message } = await failure(join(folder.path, "postgres"));
      expect(message).toMatch(/no embedded PostgreSQL for sunos .*set LANGGRAPH_DATABASE_URL/);
    } finally {
      Object.defineProperty(process, "platform", { value: platform });
    }
  });

  it("says what to do when the folder can't be made", async () => {
    writeFileSync(join(folder.path, "file"), "");
    const { message } = await failure(join(folder.path, "file", "postgres"));
    expect(message).toMatch(/not writable.*Choose another folder, or set LANGGRAPH_DATABASE_URL/);
  });

  itNeeds(rootIsMissing)("says what to do when the disk is full, and leaves nothing half-made", async () => {
    const disk = join(folder.path, "disk");
    execFileSync("mkdir", [disk]);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=12m,mode=755", "tmpfs", disk]);
    try {
      const { message } = await failure(join(disk, "postgres"));
      expect(message).toMatch(/disk is full.*Free some space/);
      expect(readdirSync(join(disk, "postgres"))).toEqual([]);
    } finally {
      execFileSync("umount", [disk]);
    }
  });

  itNeeds(rootIsMissing)("runs for root below a folder that its own user can't enter", async () => {
    execFileSync("chmod", ["700", folder.path]);
    const said: string[] = [];
    const dataDir = join(folder.path, "postgres");
    const first = await start(dataDir, (line) => said.push(line));
    const elsewhere = readFileSync(join(dataDir, "location"), "utf8").trim();
    try {
      expect(said.join("\n")).toContain(`its data is in ${elsewhere}`);
      await query(first.url, "create table kept (n int); insert into kept values (7)");
      await first.stop();
      const second = await start(dataDir);
      expect(await query(second.url, "select n from kept")).toEqual([{ n: 7 }]);
      await second.stop();
      expect(existsSync(join(elsewhere, "cluster", "PG_VERSION"))).toBe(true);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });
});
