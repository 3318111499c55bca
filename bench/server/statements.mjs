import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { runOf } from "./our-routes.mjs";
import { readRun } from "./run-agent.mjs";
import { startStatementProxy } from "./statement-proxy.mjs";

const WARMING = 5;
/** A run's last statements come after its stream has ended; the next one starts when there were none for so long. */
const QUIET_MS = 150;
/** What an idle instance asks by itself is counted for so long, and taken off. */
const IDLE_MS = 10_000;
const CHECKPOINTS = "throughline checkpoints";
const COMMITS = "throughline commit";
const WAKES = "throughline wake";

/**
 * Statements at the database for a run of one node that one viewer reads: in all and by what they are for, which the name of
 * the connection says. The graph itself tells when its node was reached.
 */
export async function countStatements({ startOurs, databaseUrl }, { runs, progress }) {
  progress("  statements of a run");
  const proxy = await startStatementProxy(databaseUrl);
  const server = await startOurs(proxy.url);
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  try {
    for (let run = 0; run < WARMING; run++) await runOnce(server);
    const idle = await during(proxy, () => pause(IDLE_MS));
    const checkpoints = await checkpointCount(database);
    const stamps = [];
    const busy = await during(proxy, async () => {
      for (let run = 0; run < runs; run++) {
        await untilQuiet(proxy);
        const from = process.hrtime.bigint();
        stamps.push({ from, until: await runOnce(server) });
      }
      await untilQuiet(proxy);
    });
    const written = (await checkpointCount(database)) - checkpoints;
    return report({ busy, idle, stamps, runs, written });
  } finally {
    await database.end();
    await server.stop();
    proxy.stop();
  }
}

async function runOnce({ url }) {
  return BigInt((await readRun(runOf(url, "stamper", randomUUID(), {}))).text);
}

async function untilQuiet({ statements }) {
  for (let seen = -1; seen !== statements.length; await pause(QUIET_MS)) seen = statements.length;
}

async function during({ statements }, work) {
  const first = statements.length;
  const startedAt = performance.now();
  await work();
  return { statements: statements.slice(first), ms: performance.now() - startedAt };
}

async function checkpointCount(database) {
  const { rows } = await database.query("select count(*)::int as count from langgraph.checkpoints");
  return rows[0].count;
}

function report({ busy, idle, stamps, runs, written }) {
  const perRun = (matches) => {
    const count = ({ statements }) => statements.filter(matches).length;
    return Math.max(0, count(busy) - (count(idle) * busy.ms) / idle.ms) / runs;
  };
  const on = (name) => (statement) => statement.application === name;
  const isCheckpointWrite = (statement) => on(CHECKPOINTS)(statement) && /\binsert\b/i.test(statement.text);
  const before = stamps.map(
    ({ from, until }) => busy.statements.filter(({ at }) => at >= from && at < until).length,
  );
  return {
    ours: {
      "statements per run": {
        "in all": perRun(() => true),
        "before the graph starts": before.reduce((sum, count) => sum + count, 0) / runs,
        "bookkeeping (neither checkpoints, log nor notifications)": perRun(
          ({ application }) => ![CHECKPOINTS, COMMITS, WAKES].includes(application),
        ),
        "checkpoint reads": perRun(
          (statement) => on(CHECKPOINTS)(statement) && !isCheckpointWrite(statement),
        ),
        "checkpoint writes": perRun(isCheckpointWrite),
        "log commits": perRun(on(COMMITS)),
        notifications: perRun(on(WAKES)),
      },
      "statements per checkpoint": { written: (perRun(isCheckpointWrite) * runs) / written },
      "statements per second": { "of an idle instance": (idle.statements.length / idle.ms) * 1_000 },
    },
    peer: {},
    targets: [],
    statements: listed(busy.statements),
  };
}

/** How often each statement was sent. */
function listed(statements) {
  const counts = new Map();
  for (const { application, text } of statements) {
    const key = `${application}: ${text.trim().replace(/\s+/g, " ").slice(0, 160)}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}
