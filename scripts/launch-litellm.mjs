// @ts-check
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { litellmCommand } from "./ensure-litellm.mjs";
import { litellmWithDatabase } from "./ensure-litellm-database.mjs";
import { freePort } from "./free-port.mjs";
import { root } from "./workspace-packages.mjs";

const HOST = "127.0.0.1";
const READY_MS = 180_000;
/** Its database client alone takes a busy machine a minute to load. */
const READY_WITH_DATABASE_MS = 420_000;

/**
 * @typedef {Readonly<Record<string, { alias?: string, account?: string, models?: readonly string[], over_budget?: boolean }>>} RigKeys
 */

/**
 * A LiteLLM proxy in front of an upstream. Without a database its keys are ours to set at any time; with one it has its own.
 *
 * @param {{ upstream: string, keys?: RigKeys, databaseUrl?: string }} options
 */
export async function launchLitellm({ upstream, keys = {}, databaseUrl }) {
  const folder = mkdtempSync(join(tmpdir(), "throughline-litellm-"));
  const file = (/** @type {string} */ name) => join(folder, name);
  const config = readFileSync(join(root, "scripts/litellm/config.yaml"), "utf8");
  writeFileSync(
    file("config.yaml"),
    (databaseUrl === undefined ? config : config.replace(/^ *custom_auth:.*$/m, "")).replaceAll(
      "UPSTREAM",
      upstream,
    ),
  );
  // Custom modules are looked up beside the config.
  copyFileSync(join(root, "scripts/litellm/rig_auth.py"), file("rig_auth.py"));
  copyFileSync(join(root, "packages/billing/litellm/throughline_logger.py"), file("throughline_logger.py"));
  writeFileSync(file("spend.jsonl"), "");
  const setKeys = (/** @type {RigKeys} */ next) => writeFileSync(file("keys.json"), JSON.stringify(next));
  setKeys(keys);
  const port = await freePort({
    host: HOST,
    wanted: undefined,
    from: 24_800 + Math.floor(Math.random() * 4_000),
  });
  const url = `http://${HOST}:${port}`;
  const { command, env: ownEnv } =
    databaseUrl === undefined ? { command: litellmCommand(), env: {} } : withDatabase(databaseUrl);
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let child;

  async function start() {
    const { DATABASE_URL: _, ...env } = process.env;
    const output = openSync(file("proxy.out"), "a");
    const started = spawn(
      command,
      ["--config", file("config.yaml"), "--host", HOST, "--port", String(port)],
      {
        cwd: folder,
        stdio: ["ignore", output, output],
        env: {
          ...env,
          // Without it four prices lists are asked of the internet.
          LITELLM_LOCAL_MODEL_COST_MAP: "true",
          RIG_KEYS: file("keys.json"),
          THROUGHLINE_SPEND_LOG: file("spend.jsonl"),
          // The proxy is local whatever the machine's way to the internet is.
          NO_PROXY: `${HOST},localhost`,
          ...ownEnv,
        },
      },
    );
    child = started;
    const readyMs = databaseUrl === undefined ? READY_MS : READY_WITH_DATABASE_MS;
    for (const deadline = Date.now() + readyMs; Date.now() < deadline; await delay(200)) {
      if (started.exitCode !== null) break;
      if (await isReady(url, databaseUrl !== undefined)) return;
    }
    await end("SIGKILL");
    throw new Error(`LiteLLM did not start:\n${readFileSync(file("proxy.out"), "utf8").slice(-2_000)}`);
  }

  /** @param {NodeJS.Signals} signal */
  async function end(signal) {
    const ending = child;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = new Promise((resolve) => ending.once("exit", resolve));
    ending.kill(signal);
    await gone;
  }

  // A test that times out never comes to its own end.
  const endWithUs = () => void child?.kill("SIGKILL");
  process.once("exit", endWithUs);
  await start();
  return {
    url,
    spendLog: file("spend.jsonl"),
    setKeys,
    start,
    kill: () => end("SIGKILL"),
    async stop() {
      process.removeListener("exit", endWithUs);
      await end("SIGTERM");
      if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * @param {string} url
 * @param {boolean} hasDatabase
 */
async function isReady(url, hasDatabase) {
  try {
    const path = hasDatabase ? "/health/readiness" : "/health/liveliness";
    const answer = await fetch(`${url}${path}`, { signal: AbortSignal.timeout(2_000) });
    return answer.ok && (!hasDatabase || (await answer.json()).db === "connected");
  } catch {
    return false;
  }
}

/** @param {string} databaseUrl */
function withDatabase(databaseUrl) {
  const { command, env } = litellmWithDatabase();
  return {
    command,
    env: {
      ...env,
      DATABASE_URL: databaseUrl,
      // Its tables are there.
      DISABLE_SCHEMA_UPDATE: "true",
      LITELLM_SALT_KEY: "sk-salt-rig",
      // Rows are written a few seconds after their call, not up to 15.
      PROXY_BATCH_WRITE_AT: "1",
    },
  };
}
