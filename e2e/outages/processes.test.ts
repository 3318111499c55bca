import { type ChildProcess, execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { followThread, shownMessages } from "../server/follower.js";
import { type AgentRoutes, agentRoutes, said } from "../server/rig/agent-routes.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { startServeProcess } from "./rig/serve-process.js";

const run = promisify(execFile);
const DEMO = fileURLToPath(new URL("../../packages/langgraph-graphs/langgraph.json", import.meta.url));
const patience = { timeout: 60_000, interval: 50 };

describe("throughline serve --processes 2", () => {
  let postgres: RigPostgres;
  let server: ChildProcess;
  let printed: () => string;
  let url: string;
  let routes: AgentRoutes;

  beforeAll(async () => {
    postgres = await startPostgres();
    const serving = await startServeProcess(["--config", DEMO, "--processes", "2"], {
      LANGGRAPH_DATABASE_URL: await postgres.createDatabase(),
      THROUGHLINE_LEASE_MS: "1500",
      THROUGHLINE_DRAIN_MS: "0",
      THROUGHLINE_OFFLINE_PACE_MS: "30",
    });
    ({ child: server, url, printed } = serving);
    routes = agentRoutes(url);
  }, 90_000);
  afterAll(async () => {
    server?.kill("SIGKILL");
    await postgres?.stop();
  });

  async function processes(): Promise<readonly number[]> {
    const { stdout } = await run("pgrep", ["-P", String(server.pid)]).catch(() => ({ stdout: "" }));
    return stdout.split("\n").filter(Boolean).map(Number);
  }

  it("prints one welcome, and answers /metrics with those of both", async () => {
    expect(printed().match(/Ctrl-C stops everything/g)).toHaveLength(1);
    // A connection of its own each: they are dealt out in turn.
    for (let asked = 0; asked < 6; asked += 1)
      await fetch(`${url}/health`, { headers: { connection: "close" } });
    const { 1: counted } =
      /^throughline_http_requests_total\{route="GET \/health"[^}]*\} (\d+)$/m.exec(
        await (await fetch(`${url}/metrics`)).text(),
      ) ?? [];
    expect(Number(counted)).toBe(6);
  });

  it("replaces a process that is killed; its runs go on in the other, and a viewer that comes back misses nothing", async () => {
    const before = await processes();
    expect(before).toHaveLength(2);
    let killed = 0;
    for (const doomed of before) {
      killed += 1;
      const threadId = randomUUID();
      const follower = await followThread(routes, "poet", threadId);
      const input = { threadId, runId: randomUUID(), messages: [said("m1", "Write about rain")] };
      void routes.run("poet", { ...input, state: {}, tools: [], context: [] }).catch(() => {});
      await follower.seen(({ data }) => JSON.stringify(data).includes("TEXT_MESSAGE_CONTENT"));
      process.kill(doomed, "SIGKILL");
      await vi.waitFor(async () => expect(await processes()).not.toContain(doomed), patience);
      await follower.reconnect(routes);
      const last = await follower.seen(
        ({ data }) =>
          JSON.stringify(data).includes("RUN_FINISHED") && JSON.stringify(data).includes(input.runId),
      );
      expect(last).toBeDefined();
      const fresh = await followThread(routes, "poet", threadId);
      await fresh.seen(({ data }) => JSON.stringify(data).includes("RUN_FINISHED"));
      expect(await shownMessages(...follower.connections)).toEqual(await shownMessages(...fresh.connections));
      follower.leave();
      fresh.leave();
      await vi.waitFor(
        () => expect(printed().split("took its place serves")).toHaveLength(killed + 1),
        patience,
      );
      expect(await processes()).toHaveLength(2);
    }
  }, 90_000);

  it("ends with all its processes when it is told to", async () => {
    const all = await processes();
    const exit = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGTERM");
    expect(await exit).toBe(143);
    for (const pid of all) expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  }, 30_000);
});
