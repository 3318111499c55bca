import type { ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inspectProcess } from "./postmaster.js";
import { findPostmaster } from "./postmaster-postmaster.js";
import { findHome } from "./run-as.js";
import { startEmbeddedPostgres } from "./start.js";
import { buildChildProgram, type ChildProgram, untilExit } from "./testing/child-program.js";
import { itNeeds, rootIsMissing } from "./testing/it-needs.js";
import { killProcess } from "./testing/kill-process.js";
import { type MadeCluster, makeCluster } from "./testing/made-cluster.js";
import { makeTempFolder, type TempFolder } from "./testing/temp-folder.js";

interface Started {
  readonly kind: "started" | "failed" | "log";
  readonly url: string;
  readonly pid: number;
  readonly adopted: boolean;
  readonly lines: readonly string[];
  readonly line: string;
  readonly message: string;
}

let program: ChildProgram;
let made: MadeCluster;
let folder: TempFolder;
let dataDir: string;
let children: ChildProcess[];

beforeAll(async () => {
  [program, made] = await Promise.all([
    buildChildProgram(new URL("./testing/embedded-postgres-child.ts", import.meta.url)),
    makeCluster(),
  ]);
});
afterAll(() => {
  program?.remove();
  made?.remove();
});

beforeEach(() => {
  folder = makeTempFolder();
  dataDir = join(folder.path, "postgres");
  children = [];
});

afterEach(async () => {
  for (const child of children) {
    child.kill("SIGKILL");
    await untilExit(child);
  }
  // What a failed test left running is adopted, which is the one way to stop it.
  const home = findHome(dataDir);
  if (home && findPostmaster(home)) await (await startEmbeddedPostgres({ dataDir })).stop();
  folder.remove();
});

function startChild(...more: readonly string[]): ChildProcess {
  const child = program.start([dataDir, ...more]);
  children.push(child);
  return child;
}

function until(child: ChildProcess, is: (message: Started) => boolean): Promise<Started> {
  return new Promise((resolve, reject) => {
    child.on("message", (message: Started) => is(message) && resolve(message));
    child.once("exit", (code, signal) => reject(new Error(`The child ended (${signal ?? code}).`)));
  });
}

const answer = ({ kind }: Started) => kind !== "log";

async function tell(child: ChildProcess, message: "stop" | "exit"): Promise<void> {
  child.send(message);
  await untilExit(child);
}

async function sum(url: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query("select 1 + 1 as sum");
  await client.end();
  return rows[0]?.sum;
}

describe("an embedded PostgreSQL between processes", () => {
  it("is adopted after the process that started it was killed", async () => {
    made.copyTo(dataDir);
    const child = startChild();
    const { pid, url } = await until(child, answer);
    child.kill("SIGKILL");
    await untilExit(child);
    expect(inspectProcess(pid)).toBeDefined();

    const server = await startEmbeddedPostgres({ dataDir });
    expect(server).toMatchObject({ pid, url, adopted: true });
    expect(await sum(server.url)).toBe(2);
    await server.stop();
    expect(inspectProcess(pid)).toBeUndefined();
  });

  it("recovers after everything was killed at once", async () => {
    made.copyTo(dataDir);
    const child = startChild();
    const { pid } = await until(child, answer);
    child.kill("SIGKILL");
    await killProcess(pid);
    const server = await startEmbeddedPostgres({ dataDir });
    expect(server.adopted).toBe(false);
    expect(await sum(server.url)).toBe(2);
    await server.stop();
  });

  it("is made once and shared when several processes start at once, until the last one leaves", async () => {
    const started = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const child = startChild();
        return { child, ...(await until(child, answer)) };
      }),
    );
    expect(new Set(started.map(({ pid }) => pid)).size).toBe(1);
    expect(started.filter(({ adopted }) => !adopted)).toHaveLength(1);
    expect(started.flatMap(({ lines }) => lines).filter((line) => line.startsWith("Creating"))).toHaveLength(
      1,
    );

    const [first, second, third] = started;
    if (!first || !second || !third) return expect.unreachable();
    await tell(first.child, "stop");
    expect(await sum(second.url)).toBe(2);
    second.child.kill("SIGKILL");
    await untilExit(second.child);
    expect(await sum(third.url)).toBe(2);
    await tell(third.child, "stop");
    expect(inspectProcess(third.pid)).toBeUndefined();
  });

  it("ends with a process that ends without stopping it", async () => {
    made.copyTo(dataDir);
    const child = startChild();
    const { pid } = await until(child, answer);
    await tell(child, "exit");
    await expect.poll(() => inspectProcess(pid), { timeout: 10_000 }).toBeUndefined();
  });

  it("starts anew when the first start was killed half-way", async () => {
    const child = startChild();
    await until(child, ({ kind, line }) => kind === "log" && line.startsWith("Creating"));
    child.kill("SIGKILL");
    await untilExit(child);
    const server = await startEmbeddedPostgres({ dataDir });
    expect(await sum(server.url)).toBe(2);
    await server.stop();
    expect(readdirSync(dataDir).toSorted()).toEqual([
      "cluster",
      "port",
      "server-host",
      "server.log",
      "users",
    ]);
  });

  itNeeds(rootIsMissing)("says what to do when the folder is somebody else's", async () => {
    const nobody = "65534";
    const { kind, message } = await until(startChild(nobody), answer);
    expect(kind).toBe("failed");
    expect(message).toMatch(/not writable.*Choose another folder, or set LANGGRAPH_DATABASE_URL/);
  });
});
