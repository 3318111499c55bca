// What the service costs over what it is made of: the bare graph, a bare response, the server that LangGraph ships.
import { mkdtempSync, rmSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startEmbeddedPostgres } from "@throughline/embedded-postgres";
import pg from "pg";
import { startBare, startForgetful, startServe, startUpstream } from "./child-process.mjs";
import { createProfiler } from "./cpu-profile.mjs";
import { measureFirstTokens } from "./first-token.mjs";
import { measureFrameCosts } from "./frame-cost.mjs";
import { measureIdleMemory } from "./idle-memory.mjs";
import { measureMetering } from "./metering.mjs";
import { measureReconnects } from "./reconnect-time.mjs";
import { measureRunCpu } from "./run-cpu.mjs";
import { countStatements } from "./statements.mjs";

/** Each gives its share of the report: `ours`, `peer` and `targets`. */
const PARTS = {
  "first-token": ({ start, profiler, quick, progress }) =>
    withServers([start.ours, start.bare], ([ours, bare]) =>
      measureFirstTokens({ ours, bare }, { rounds: quick ? 3 : 9, progress, profiler }),
    ),
  "run-cpu": ({ start, quick, progress }) =>
    withServers([start.ours, start.bare], ([ours, bare]) =>
      measureRunCpu({ ours, bare }, { rounds: quick ? 3 : 9, runs: quick ? 30 : 100, progress }),
    ),
  "frame-cost": ({ start, quick, progress }) =>
    withServers([start.ours, start.bare], ([ours, bare]) =>
      measureFrameCosts({ ours, bare }, { rounds: quick ? 1 : 5, tokens: quick ? 25 : 60, progress }),
    ),
  reconnect: ({ start, quick, progress }) =>
    withServers([start.ours, start.forgetful], ([here, elsewhere]) =>
      measureReconnects({ here, elsewhere }, { times: quick ? 20 : 100, progress }),
    ),
  "idle-memory": ({ start, quick, progress }) =>
    withServers([start.ours], ([ours]) =>
      measureIdleMemory(
        { ours, startOurs: start.ours, startBare: start.bare },
        { viewers: quick ? 500 : 2_000, rounds: quick ? 1 : 3, progress },
      ),
    ),
  metering: ({ start, databaseUrl, quick, progress }) =>
    withServers([startUpstream], ([{ url }]) =>
      withServers(
        [
          () => start.ours(databaseUrl, { LITELLM_BASE_URL: url, LITELLM_API_KEY: "bench" }),
          () => start.ours(databaseUrl, { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: "bench" }),
        ],
        ([metered, unmetered]) =>
          measureMetering(
            { metered, unmetered, databaseUrl },
            { rounds: quick ? 3 : 9, runs: quick ? 30 : 100, progress },
          ),
      ),
    ),
  statements: ({ start, databaseUrl, quick, progress }) =>
    countStatements({ startOurs: start.ours, databaseUrl }, { runs: quick ? 20 : 100, progress }),
};

/** @param {{ quick: boolean, only?: readonly string[], profile?: boolean, progress: (text: string) => void }} options */
export async function runBench({ quick, only = Object.keys(PARTS), profile = false, progress }) {
  const unknown = only.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown !== undefined)
    throw new Error(`No part "${unknown}". There is: ${Object.keys(PARTS).join(", ")}.`);
  const root = resolve(import.meta.dirname, "../..");
  const folder = mkdtempSync(join(tmpdir(), "throughline-bench-"));
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, "postgres"), log: progress });
  const profiler = profile ? createProfiler(root, progress) : undefined;
  const report = { ours: {}, peer: {}, targets: [] };
  try {
    for (const [name, measure] of Object.entries(PARTS)) {
      if (!only.includes(name)) continue;
      const databaseUrl = await createDatabase(postgres.url, name);
      const start = {
        ours: (url = databaseUrl, env = {}) => startServe(url, env),
        forgetful: () => startForgetful(databaseUrl),
        bare: () => startBare(databaseUrl),
      };
      const { ours, peer, targets, ...more } = await measure({
        quick,
        progress,
        profiler,
        databaseUrl,
        start,
      });
      Object.assign(report.ours, ours);
      Object.assign(report.peer, peer);
      report.targets.push(...targets);
      Object.assign(report, more);
    }
    return report;
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One for each part: runs that a part leaves behind would be recovered by the servers of the next. */
async function createDatabase(url, part) {
  const name = part.replaceAll("-", "_");
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}

async function withServers(starts, work) {
  const servers = [];
  try {
    for (const start of starts) servers.push(await start());
    return await work(servers);
  } finally {
    for (const server of servers) await server.stop();
  }
}
