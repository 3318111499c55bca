import { type ChildProcess, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type HostIdentity, takeOverFromOtherHost, thisHost, writeServerHost } from "./host-claim.js";

import { findPostmaster } from "./postmaster-postmaster.js";
import { type DataFolder, findHome } from "./run-as.js";
import { startEmbeddedPostgres } from "./start.js";
import { buildChildProgram, untilExit } from "./testing/child-program.js";
import { itNeeds } from "./testing/it-needs.js";
import { makeTempFolder, type TempFolder } from "./testing/temp-folder.js";

let folder: TempFolder;
beforeEach(() => {
  folder = makeTempFolder();
});
afterEach(() => folder.remove());

function backdate(file: string): void {
  const aMinuteAgo = Date.now() / 1_000 - 60;
  utimesSync(file, aMinuteAgo, aMinuteAgo);
}

describe("a folder that another host may use", () => {
  let home: DataFolder;
  let user: string;
  let pidFile: string;
  let lines: string[];
  let beating: ReturnType<typeof setInterval> | undefined;
  afterEach(() => clearInterval(beating));
  const log = (line: string) => void lines.push(line);
  const userOf = (host: HostIdentity) =>
    join(
      folder.path,
      "users",
      `${process.pid}-abc@${Buffer.from(JSON.stringify(host)).toString("base64url")}`,
    );
  const elsewhere = { name: "elsewhere", space: "another boot pid:[1]" };

  beforeEach(() => {
    home = { folder: folder.path, cluster: join(folder.path, "cluster") };
    user = userOf(elsewhere);
    pidFile = join(home.cluster, "postmaster.pid");
    lines = [];
    mkdirSync(home.cluster);
    mkdirSync(join(folder.path, "users"));
    // A pid that runs here, too, as another program.
    writeFileSync(user, "1");
    writeFileSync(pidFile, `${process.pid}\n${home.cluster}\n1\n5432\n`);
    writeFileSync(join(folder.path, "server-host"), JSON.stringify(elsewhere));
  });

  it("is refused while that host is seen to live, and nothing of it is touched", async () => {
    const before = readFileSync(pidFile, "utf8");
    beating = setInterval(() => utimesSync(user, new Date(), new Date()), 20);
    const refused = takeOverFromOtherHost(folder.path, home, { log });
    await expect(refused).rejects.toThrow(
      /PostgreSQL on elsewhere.*folder of its own.*LANGGRAPH_DATABASE_URL/,
    );
    expect(findPostmaster(home)).toBeUndefined();
    expect(readFileSync(pidFile, "utf8")).toBe(before);
    expect(existsSync(user)).toBe(true);
  });

  it("is taken over from one that stands still, after a server left there had time to end", async () => {
    backdate(user);
    await takeOverFromOtherHost(folder.path, home, { log, orphanMs: 20 });
    expect(existsSync(pidFile)).toBe(false);
    expect(readdirSync(join(folder.path, "users"))).toEqual([]);
    expect(lines.join("\n")).toMatch(/elsewhere uses .* no longer; taking it over[\s\S]*ends itself/);
  });

  it("is taken over at once from its own host's life before", async () => {
    const before = { ...thisHost, space: "before" };
    rmSync(user);
    writeFileSync(userOf(before), "1");
    backdate(userOf(before));
    writeFileSync(join(folder.path, "server-host"), JSON.stringify(before));
    await takeOverFromOtherHost(folder.path, home, { log, orphanMs: 60_000 });
    expect(existsSync(pidFile)).toBe(false);
  });

  it("is left alone where only this host uses it", async () => {
    rmSync(user);
    writeFileSync(userOf(thisHost), "1");
    writeServerHost(home);
    await takeOverFromOtherHost(folder.path, home, { log });
    expect(existsSync(pidFile)).toBe(true);
    expect(lines).toEqual([]);
  });
});

const CONTAINER = ["unshare", "--pid", "--ipc", "--fork", "--kill-child", "--mount-proc"] as const;
const isMissing =
  spawnSync(CONTAINER[0], [...CONTAINER.slice(1), "true"]).status === 0
    ? undefined
    : "this test needs pid namespaces (unshare), which only root may make.";

itNeeds(isMissing)(
  "a cluster that runs in another container is neither used nor started a second time, until that has ended",
  async () => {
    const dataDir = join(folder.path, "postgres");
    const program = await buildChildProgram(new URL("./testing/embedded-postgres-child.ts", import.meta.url));
    const container = program.start([dataDir], CONTAINER);
    try {
      const { url } = await untilStarted(container);
      await run(url, "create table kept as select 7 as number");
      const pidFile = join(findHome(dataDir)?.cluster ?? "", "postmaster.pid");
      const before = readFileSync(pidFile, "utf8");

      await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(`PostgreSQL on ${thisHost.name}`);
      expect(readFileSync(pidFile, "utf8")).toBe(before);
      expect(await run(url, "select number from kept")).toEqual([{ number: 7 }]);

      container.kill("SIGKILL");
      await untilExit(container);
      await vi.waitUntil(async () => !(await run(url, "select 1").catch(() => undefined)), {
        timeout: 10_000,
      });
      const users = join(dataDir, "users");
      for (const name of readdirSync(users)) backdate(join(users, name));
      const server = await startEmbeddedPostgres({ dataDir });
      expect(server.adopted).toBe(false);
      expect(await run(server.url, "select number from kept")).toEqual([{ number: 7 }]);
      await server.stop();
    } finally {
      container.kill("SIGKILL");
      await untilExit(container);
      program.remove();
    }
  },
);

function untilStarted(child: ChildProcess): Promise<{ readonly url: string }> {
  return new Promise((resolve, reject) => {
    child.on(
      "message",
      (message: { readonly kind: string; readonly url: string; readonly message: string }) => {
        if (message.kind === "started") resolve(message);
        if (message.kind === "failed") reject(new Error(message.message));
      },
    );
    child.once("exit", () => reject(new Error("The child ended.")));
  });
}

async function run(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(statement)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}
