import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readEvents } from "../../packages/langgraph-server/src/testing/sse-events.js";
import { agentRoutes } from "../server/rig/agent-routes.js";
import { seededRandom } from "../server/rig/seeded-random.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, type RigServerOptions, startServer } from "../server/rig/start-server.js";
import { SEED, trialsOr } from "../server/rig/trials.js";
import { tryCommands } from "./command-trial.js";

const TRIALS = 500;
const AT_ONCE = 10;
/** A trial takes a fraction of a second; one that takes this long waits for a stop that was lost. */
const PATIENCE_MS = 45_000;

let postgres: RigPostgres;
let servers: RigServer[] = [];
beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  servers = [];
});
afterAll(() => postgres.stop());

async function start(count: number, options: Partial<RigServerOptions> = {}): Promise<RigServer[]> {
  const databaseUrl = await postgres.createDatabase();
  const env = { THROUGHLINE_MAX_CONCURRENT_RUNS: "1000" };
  servers = await Promise.all(
    Array.from({ length: count }, () => startServer({ databaseUrl, env, ...options })),
  );
  return servers;
}

describe("Stops and commands in the first milliseconds of a run", () => {
  it("are never lost, never run beside it and never a dead end, on two instances", {
    timeout: 1_800_000,
  }, async () => {
    const urls = (await start(2)).map(({ url }) => url);
    const trials = trialsOr(TRIALS);
    for (let first = 0; first < trials; first += AT_ONCE) {
      const indexes = Array.from({ length: Math.min(AT_ONCE, trials - first) }, (_, at) => first + at);
      await Promise.all(
        indexes.map((index) =>
          within(tryCommands(urls, `trial ${index}`, seededRandom(SEED + index)), index),
        ),
      );
    }
  });
});

describe("A sync that waits behind a run", () => {
  it("outlives the server, and is applied once when its turn comes", async () => {
    const [server] = await start(1, { leaseMs: 2_000, reapEveryMs: 500 });
    if (!server) throw new Error("no server");
    const { run, stop, events } = agentRoutes(server.url);
    const commanded = (runId: string, throughline: object, state: object = {}) =>
      run("sentinel", { threadId: "outlived", runId, state, forwardedProps: { throughline } });
    await readEvents(await commanded("hire", { command: { name: "hire" } }));
    const cycle = { command: { name: "cycle", args: { durationMs: 60_000 } } };
    const sync = { command: { name: "sync", clientMutationId: "m1" }, strategy: "enqueue" };
    const settings = { settings: { watch: ["queue"] } };
    await readEvents(await commanded("cycle", cycle), ({ data }) => data.type === "STEP_STARTED");
    await (await commanded("sync", sync, settings)).body?.cancel();
    await server.kill();
    await server.restart();
    const again = commanded("sync", sync, settings);
    expect((await stop("sentinel", "outlived", { runId: "cycle" })).status).toBe(200);
    const applied = await readEvents(await again);
    expect(applied.at(-1)?.data).toMatchObject({ metadata: { throughline: { status: "success" } } });
    const told = (await readEvents(await events("sentinel", "outlived"))).map(({ data }) => data);
    expect(told.filter((entry) => entry.type === "run_end").map(({ payload }) => payload)).toMatchObject([
      { status: "success" },
      { status: "cancelled" },
      { status: "success" },
    ]);
    const acknowledged = told.filter(
      (entry) => entry.type === "state_delta" && JSON.stringify(entry.payload).includes('"m1"'),
    );
    expect(acknowledged).toHaveLength(1);
  });
});

async function within(trial: Promise<void>, index: number): Promise<void> {
  let cancel = () => {};
  const late = new Promise<void>((_, reject) => {
    const timer = setTimeout(() => reject(new Error("it did not end: something was lost")), PATIENCE_MS);
    cancel = () => clearTimeout(timer);
  });
  try {
    await Promise.race([trial, late]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`Trial ${index} failed with --seed ${SEED}: ${why}`, { cause: error });
  } finally {
    cancel();
  }
}
