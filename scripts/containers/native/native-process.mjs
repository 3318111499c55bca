// @ts-check
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ensureLitellm } from "../../ensure-litellm.mjs";
import { runStep } from "../../steps.mjs";
import { ensureReady } from "../../workspace.mjs";
import { root } from "../../workspace-packages.mjs";
import { SERVICES } from "../topology.mjs";

/** Where the native topology keeps its data, its log and the id of its process. */
export const NATIVE_FOLDER = join(root, ".throughline", "native");
const PID_FILE = join(NATIVE_FOLDER, "pid");
const LOG_FILE = join(NATIVE_FOLDER, "log");
const STOP_MS = 40_000;

/**
 * Starts the topology from local programs, in a process that goes on when this one ends.
 *
 * @param {NodeJS.ProcessEnv} env
 */
export async function startNative(env) {
  if (runningPid() !== undefined) throw new Error("It runs already. npm run langgraph:down stops it.");
  await ensureReady({ withConsole: true });
  await runStep(
    async () => {
      const missing = await ensureLitellm();
      if (missing !== undefined) throw new Error(missing);
    },
    () => ({ changed: true, text: "LiteLLM is installed" }),
    { doing: "installing LiteLLM" },
  );
  mkdirSync(NATIVE_FOLDER, { recursive: true });
  const log = openSync(LOG_FILE, "w");
  const child = spawn(process.execPath, [join(import.meta.dirname, "run-native.mjs")], {
    cwd: root,
    env,
    detached: true,
    stdio: ["ignore", log, log, "ipc"],
  });
  writeFileSync(PID_FILE, String(child.pid));
  /** @type {Set<unknown>} */
  const ready = new Set();
  child.on("message", (service) => void ready.add(service));
  for (const service of SERVICES) {
    await runStep(
      async () => {
        while (!ready.has(service)) {
          if (child.exitCode !== null) throw new Error(`${service} did not start:\n${lastLines()}`);
          await pause(100);
        }
      },
      () => ({ changed: true, text: `${service} is healthy` }),
      { doing: `starting ${service}` },
    );
  }
  child.disconnect();
  child.unref();
}

/**
 * @param {{ deleteData: boolean }} options
 * @returns {Promise<boolean>} whether it ran
 */
export async function stopNative({ deleteData }) {
  const pid = runningPid();
  if (pid !== undefined) {
    process.kill(pid, "SIGTERM");
    for (const deadline = performance.now() + STOP_MS; isAlive(pid); await pause(100)) {
      if (performance.now() > deadline) throw new Error(`Process ${pid} did not end. Its log: ${LOG_FILE}`);
    }
  }
  rmSync(deleteData ? NATIVE_FOLDER : PID_FILE, { recursive: true, force: true });
  return pid !== undefined;
}

function runningPid() {
  const pid = existsSync(PID_FILE) ? Number(readFileSync(PID_FILE, "utf8")) : undefined;
  return pid !== undefined && isAlive(pid) ? pid : undefined;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const lastLines = () => readFileSync(LOG_FILE, "utf8").split("\n").slice(-20).join("\n");
