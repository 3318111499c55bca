// @ts-check
// The program of the heartbeat's thread. Plain JavaScript, because Node loads the same file from the sources and from a build.

import { workerData } from "node:worker_threads";
import pg from "pg";

/**
 * @typedef {import("./heartbeat.js").HeartbeatWorkerData} HeartbeatWorkerData
 * @typedef {import("./heartbeat.js").ToHeartbeatWorker} ToHeartbeatWorker
 * @typedef {import("../../registry/leases.js").Heartbeat} Heartbeat
 */

const {
  settings: { connection, statement, leaseMs, everyMs },
  port,
} = /** @type {HeartbeatWorkerData} */ (workerData);

/** Deadline of a connection and of a statement: after a first one that stalls, another still renews in time. */
const PATIENCE_MS = leaseMs / 3;
/** Without leases a heartbeat only shows that there could be one. */
const IDLE_MS = Math.max(everyMs, leaseMs / 2);
const FIRST_RETRY_MS = 50;

/** @type {Map<string, string>} Run ids and tokens. */
const held = new Map();
/** @type {pg.Client | undefined} */
let client;
/** @type {NodeJS.Timeout | undefined} */
let timer;
let failures = 0;
let isBeating = false;
let isClosed = false;

async function connect() {
  const fresh = new pg.Client({
    ...connection,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    application_name: "throughline heartbeat",
    connectionTimeoutMillis: PATIENCE_MS,
    query_timeout: PATIENCE_MS,
  });
  fresh.on("error", () => {
    if (client === fresh) client = undefined;
  });
  await fresh.connect();
  // A server that refuses it leaves us our own deadline.
  await fresh.query(`set statement_timeout = ${Math.floor(PATIENCE_MS * 0.9)}`).catch(() => {});
  return fresh;
}

async function beat() {
  client ??= await connect();
  const asked = [...held].map(([runId, token]) => ({ runId, token }));
  // The lease counts from when it was asked for: the answer may be long on its way.
  const sentAt = performance.timeOrigin + performance.now();
  const { rows } = await client.query(statement, [
    asked.map(({ runId }) => runId),
    asked.map(({ token }) => token),
    leaseMs,
  ]);
  const stopRequested = new Map(rows.map((row) => [row.run_id, row.stop_requested]));
  /** @type {Heartbeat} */
  const answer = {
    sentAt,
    renewed: asked.filter(({ runId }) => stopRequested.get(runId) === false),
    stopping: asked.filter(({ runId }) => stopRequested.get(runId) === true),
    lost: asked.filter(({ runId }) => !stopRequested.has(runId)),
  };
  port.postMessage(answer);
}

async function beatAndGoOn() {
  isBeating = true;
  try {
    await beat();
    failures = 0;
  } catch {
    failures += 1;
    client?.connection.stream.destroy();
    client = undefined;
  }
  isBeating = false;
  if (isClosed) end();
  else schedule();
}

function schedule() {
  clearTimeout(timer);
  const pause = held.size > 0 ? everyMs : IDLE_MS;
  const retry = FIRST_RETRY_MS * 2 ** (failures - 1);
  timer = setTimeout(beatAndGoOn, failures > 0 ? Math.min(retry, pause) : pause);
}

/** The thread ends with its last connection. */
function end() {
  port.close();
  void client?.end().catch(() => {});
}

port.on("message", (/** @type {ToHeartbeatWorker} */ message) => {
  switch (message.kind) {
    case "keep": {
      const wasIdle = held.size === 0;
      held.set(message.runId, message.token);
      if (wasIdle && !isBeating) schedule();
      return;
    }
    case "drop":
      if (held.get(message.runId) === message.token) held.delete(message.runId);
      return;
    case "close":
      isClosed = true;
      clearTimeout(timer);
      if (!isBeating) end();
  }
});

void beatAndGoOn();
