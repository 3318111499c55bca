import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const PATIENCE = { timeout: 90_000, interval: 50 };

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<number | string | null>;
  printed(): string;
}

let folder: string;
let running: Started[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "start-"));
  running = [];
});
afterEach(async () => {
  for (const { child, ended } of running) {
    child.kill("SIGTERM");
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

/** `npm start` without npm, with data of its own and on ports that are free. */
function start(...flags: readonly string[]): Started {
  const { NODE_ENV: _, ...env } = process.env;
  const child = spawn(
    process.execPath,
    ["scripts/start.mjs", "--port", "0", "--console-port", "0", ...flags],
    {
      cwd: ROOT,
      env: { ...env, THROUGHLINE_DATA_DIR: join(folder, "postgres") },
      // A group of its own, as a terminal gives it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      printed += chunk;
    });
  }
  const ended = new Promise<number | string | null>((done) =>
    child.once("exit", (code, signal) => done(code ?? signal)),
  );
  const started = { child, ended, printed: () => printed };
  running.push(started);
  return started;
}

async function untilReady({ printed }: Started): Promise<string> {
  await expect.poll(printed, PATIENCE).toContain("Ctrl-C stops everything.");
  const addresses = printed().match(/https?:\/\/\S+/g);
  expect(addresses).toHaveLength(1);
  return addresses?.[0] ?? "";
}

/** The console is the only process of Next's that it started. */
const consolePid = (started: Started) => childPid(started, /next/);

function childPid({ child }: Started, program: RegExp): number | undefined {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" }).split("\n");
  const rows = lines.map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line));
  const row = rows.find((one) => Number(one?.[2]) === child.pid && program.test(one?.[3] ?? ""));
  return row?.[1] === undefined ? undefined : Number(row[1]);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function endConsole(started: Started): Promise<number> {
  await expect.poll(() => consolePid(started), PATIENCE).toBeDefined();
  const pid = consolePid(started) ?? 0;
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isAlive(pid), PATIENCE).toBe(false);
  return pid;
}

describe("npm start", { timeout: 180_000 }, () => {
  it("prints one address, at which people sign in and see the agents", async () => {
    const url = await untilReady(start());
    const page = await fetch(url);
    expect(new URL(page.url).pathname).toBe("/sign-in");
    const signedIn = await fetch(`${url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url },
      body: JSON.stringify({ account: "starter" }),
    });
    const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
    const agents = await fetch(`${url}/api/throughline/agents`, {
      headers: { cookie, origin: url, "x-throughline-signed-in-as": "starter" },
    });
    expect(await agents.json()).toMatchObject({
      agents: [{ graphName: "chat" }, { graphName: "poet" }, {}, {}, {}, {}, {}],
    });
  });

  it("starts a console that ended by itself once more, and ends with a sentence when that ends too", async () => {
    const started = start();
    const url = await untilReady(started);
    await endConsole(started);
    await expect.poll(started.printed, PATIENCE).toContain("Starting it again.");
    await expect
      .poll(
        () =>
          fetch(`${url}/sign-in`).then(
            ({ ok }) => ok,
            () => false,
          ),
        PATIENCE,
      )
      .toBe(true);
    await endConsole(started);
    expect(await started.ended).toBe(1);
    expect(started.printed()).toContain(
      "Everything is stopped. Run npm start again, or npm start -- --no-console.",
    );
  });

  it("leaves no console behind, not even when it is killed", async () => {
    const started = start();
    await untilReady(started);
    const pid = consolePid(started) ?? 0;
    expect(isAlive(pid)).toBe(true);
    started.child.kill("SIGKILL");
    await started.ended;
    await expect.poll(() => isAlive(pid), PATIENCE).toBe(false);
    // The database outlives a kill: the next start takes it over, and stops it when it ends.
    await expect.poll(start("--no-console").printed, PATIENCE).toContain("Ctrl-C stops everything.");
  });

  it("ends in peace with Ctrl-C, which a terminal sends to everything that runs in it", async () => {
    const started = start();
    await untilReady(started);
    const pid = consolePid(started) ?? 0;
    process.kill(-(started.child.pid ?? 0), "SIGINT");
    expect(await started.ended).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(started.printed()).not.toContain("The console ended");
  });

  it("runs the service alone when it is told to", async () => {
    const started = start("--no-console");
    await expect.poll(started.printed, PATIENCE).toContain("Ctrl-C stops everything.");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(started.printed())?.[0];
    expect((await fetch(`${url}/health`)).ok).toBe(true);
    expect(consolePid(started)).toBeUndefined();
  });

  it("restarts the service on its port when an error leaves it in doubt, and says so", async () => {
    const project = join(folder, "langgraph.json");
    // Outside of any run, so that no run can be blamed for it.
    const graph = `
      import { MessagesAnnotation, StateGraph } from "${import.meta.resolve("@langchain/langgraph")}";
      process.on("SIGUSR2", () => void Promise.reject(new Error("stray")));
      export const graph = new StateGraph(MessagesAnnotation).addNode("say", () => ({ messages: [] }))
        .addEdge("__start__", "say").addEdge("say", "__end__").compile();
    `;
    writeFileSync(join(folder, "graph.mjs"), graph);
    writeFileSync(project, JSON.stringify({ graphs: { quiet: "./graph.mjs:graph" } }));
    const started = start("--no-console", "--config", project);
    await expect.poll(started.printed, PATIENCE).toContain("Ctrl-C stops everything.");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(started.printed())?.[0];
    const pid = childPid(started, /service-process/);
    process.kill(pid ?? 0, "SIGUSR2");
    await expect.poll(started.printed, PATIENCE).toContain("(exit code 70). Restarting it.");
    await expect
      .poll(
        () =>
          fetch(`${url}/health`).then(
            ({ ok }) => ok,
            () => false,
          ),
        PATIENCE,
      )
      .toBe(true);
    expect(childPid(started, /service-process/)).not.toBe(pid);
    process.kill(-(started.child.pid ?? 0), "SIGINT");
    expect(await started.ended).toBe(0);
  });

  it("refuses what is no port before it does anything", async () => {
    const started = start("--console-port", "web");
    expect(await started.ended).toBe(2);
    expect(started.printed()).toBe(
      '"web" is no port. --console-port and THROUGHLINE_CONSOLE_PORT take 0 to 65535. See --help.\n',
    );
  });
});
