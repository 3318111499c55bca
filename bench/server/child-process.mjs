import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const HERE = import.meta.dirname;
const CLI = resolve(HERE, "../../packages/cli/bin/throughline.mjs");
const READY_TIMEOUT_MS = 120_000;

/** All viewers and runs are one account here; what is measured is not how it is held back. */
const NO_LIMITS = {
  THROUGHLINE_MAX_CONCURRENT_RUNS: "5000",
  THROUGHLINE_MAX_DRIVEN_RUNS: "5000",
  THROUGHLINE_MAX_WATCHERS: "20000",
  THROUGHLINE_MAX_STARTS_PER_MINUTE: "1000000",
  THROUGHLINE_MAX_BODY_BYTES_PER_MINUTE: "1000000000",
};

/**
 * `throughline serve` as production starts it, with the bench's graphs. `isAsked`: the process answers `ask`, which one that
 * starts others by itself does not.
 */
export async function startServe(databaseUrl, env = {}, { args = [], isAsked = true } = {}) {
  const port = await freePort();
  const child = startProcess(CLI, {
    args: ["serve", "--config", join(HERE, "langgraph.json"), "--port", `${port}`, ...args],
    execArgv: isAsked ? ["--import", pathToFileURL(join(HERE, "serve-probe.mjs")).href] : [],
    env: { ...NO_LIMITS, LANGGRAPH_DATABASE_URL: databaseUrl, ...env },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(child, `${url}/ready`);
  return { ...child, url };
}

/** The same service without its memory of threads, so that a reconnect reads the log. */
export function startForgetful(databaseUrl) {
  return startProgram("forgetful-server.mjs", {
    ...NO_LIMITS,
    LANGGRAPH_DATABASE_URL: databaseUrl,
    PORT: "0",
  });
}

/** The same graph on LangGraph's own saver, without us. */
export function startBare(databaseUrl) {
  return startProgram("bare-server.mjs", { BENCH_DATABASE_URL: databaseUrl });
}

/** What stands for LiteLLM and the provider behind it. */
export function startUpstream() {
  return startProgram("priced-upstream.mjs", {});
}

async function startProgram(program, env) {
  const child = startProcess(join(HERE, program), { env });
  return { ...child, url: await child.ask("url") };
}

/**
 * A process of its own, so that clients never share a core's time with what they measure, and its CPU and memory are its
 * own. `ask` sends it a question and resolves with what it answers.
 */
function startProcess(program, { args = [], execArgv = [], env }) {
  const child = fork(program, args, {
    execArgv: ["--expose-gc", ...execArgv],
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const waiting = new Map();
  let failure;
  child.on("message", ({ id, error, answer }) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(answer);
    else asked?.reject(new Error(error));
  });
  child.once("exit", (code) => {
    failure = new Error(`${program} ended with ${code}.`);
    for (const { reject } of waiting.values()) reject(failure);
  });
  let asked = 0;
  return {
    pid: child.pid,
    failure: () => failure,
    ask(what, about) {
      return new Promise((resolve, reject) => {
        if (failure) return reject(failure);
        const id = asked++;
        waiting.set(id, { resolve, reject });
        child.send({ id, what, about });
      });
    },
    async stop() {
      process.removeListener("exit", kill);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      kill();
      await gone;
    },
  };
}

async function untilReady(child, url) {
  for (const deadline = Date.now() + READY_TIMEOUT_MS; ; await pause(50)) {
    if (child.failure()) throw child.failure();
    if (Date.now() > deadline) throw new Error("The service was not ready in time.");
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
    if (answer?.ok) return;
  }
}

function freePort() {
  return new Promise((resolvePort) => {
    const probe = createServer();
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolvePort(port));
    });
  });
}
