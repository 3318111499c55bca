import { randomUUID } from "node:crypto";
import { createPostgresLedgerStore } from "@throughline/billing";
import pg from "pg";
import { median } from "../median.mjs";
import { atMost } from "../targets.mjs";
import { HUMAN } from "./first-token.mjs";
import { runOf } from "./our-routes.mjs";
import { readRun, typed } from "./run-agent.mjs";

const AT_ONCE = 10;
const WRITES = 500;

/** What metering adds to runs that call a model over HTTP: CPU of the service, and time to the first token. */
export async function measureMetering({ metered, unmetered, databaseUrl }, { rounds, runs, progress }) {
  const subjects = { metered, unmetered };
  const seen = { metered: { cpu: [], first: [] }, unmetered: { cpu: [], first: [] } };
  const read = (server) => readRun(runOf(server.url, "caller", randomUUID(), {}), typed(HUMAN));
  for (const server of Object.values(subjects)) await readAll(server, runs, read);
  for (let round = 0; round < rounds; round++) {
    progress(`  metering, round ${round + 1} of ${rounds}`);
    for (const [name, server] of Object.entries(subjects)) {
      const before = await server.ask("cpu");
      await readAll(server, runs, read);
      seen[name].cpu.push(((await server.ask("cpu")) - before) / 1_000 / runs);
    }
    for (let run = 0; run < 5; run++) {
      for (const [name, server] of Object.entries(subjects))
        seen[name].first.push((await read(server)).firstTokenMs);
    }
  }
  const write = await timeWrites(databaseUrl);
  const cpu = { metered: median(seen.metered.cpu), unmetered: median(seen.unmetered.cpu) };
  const first = { metered: median(seen.metered.first), unmetered: median(seen.unmetered.first) };
  return {
    ours: {
      metered: {
        "CPU ms per run": cpu.metered,
        "first token, ms": first.metered,
        "in-doubt write p50, ms": write,
      },
    },
    peer: { unmetered: { "CPU ms per run": cpu.unmetered, "first token, ms": first.unmetered } },
    targets: [
      atMost("CPU per run, metered over unmetered", cpu.metered / cpu.unmetered, 1.05),
      atMost(
        "first token, ms that metering adds beyond its write",
        first.metered - first.unmetered - write,
        2,
      ),
    ],
  };
}

/** The p50 of recording a call before it is sent, by itself. */
async function timeWrites(connectionString) {
  const pool = new pg.Pool({ connectionString, max: 1 });
  const ledger = createPostgresLedgerStore({ pool, schema: "throughline" });
  const times = [];
  for (let write = 0; write < WRITES; write++) {
    const unit = {
      unitId: randomUUID(),
      runId: randomUUID(),
      attempt: 0,
      ordinal: 1,
      account: "dev",
      subject: undefined,
      virtualKeyId: "dev",
      keyHash: "0".repeat(64),
      requestId: randomUUID(),
      traceId: randomUUID(),
      threadId: randomUUID(),
      graphId: "langgraph:caller",
      executorType: "inproc",
      model: "bench",
    };
    const startedAt = performance.now();
    await ledger.open(unit);
    times.push(performance.now() - startedAt);
  }
  await pool.end();
  return median(times);
}

async function readAll(server, runs, read) {
  for (let done = 0; done < runs; done += AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, runs - done) }, () => read(server)));
}
