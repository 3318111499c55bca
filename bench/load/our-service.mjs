import { once } from "node:events";
import { connect } from "node:net";
import { startServe } from "../server/child-process.mjs";
import { agUiRun, readAgUi } from "./subject.mjs";

const WORKERS = 2;

/**
 * `throughline serve` on a PostgreSQL of its own. With `roles`, one process with the role api and two workers; with `processes`,
 * so many that share a port.
 *
 * @param {{ postgres: { url: string, pid: number }, processes?: number, roles?: boolean, env?: Record<string, string> }} options
 * @returns {Promise<import("./subject.mjs").Subject & { workers: readonly number[] }>}
 */
export async function startOurService({ postgres, processes = 1, roles = false, env = {} }) {
  const start = (more = {}, args = []) =>
    startServe(postgres.url, { ...env, ...more }, { args, isAsked: false });
  const [front, ...workers] = roles
    ? await startAll([
        () => start({ THROUGHLINE_ROLES: "api" }),
        ...Array.from({ length: WORKERS }, () => () => start({ THROUGHLINE_ROLES: "worker" })),
      ])
    : [await start({}, processes > 1 ? ["--processes", `${processes}`] : [])];
  const all = [front, ...workers];
  return {
    name: "throughline",
    startsAnew: false,
    createRun: async (typing, agent = "typist") =>
      agUiRun({ start: front.url, view: front.url }, agent, typing),
    read: readAgUi,
    passTurn: () => connectInVain(front.url),
    pids: { service: all.map(({ pid }) => pid), postgres: [postgres.pid] },
    workers: workers.map(({ pid }) => pid),
    databaseUrl: postgres.url,
    eventLoopLagMs: async () => {
      const text = await (await fetch(`${front.url}/metrics`)).text();
      const seconds = /^throughline_event_loop_lag_p99_seconds\S* (\S+)$/m.exec(text)?.[1];
      return seconds === undefined ? undefined : Number(seconds) * 1_000;
    },
    async stop() {
      for (const one of all) await one.stop();
    },
  };
}

async function connectInVain(url) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.destroy();
}

/** One after the other: the first migrates. */
async function startAll(starts) {
  const started = [];
  for (const start of starts) started.push(await start());
  return started;
}
