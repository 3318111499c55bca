// @ts-check
// The topology of docker-compose.dev.yml from local programs, until SIGTERM. Tells its parent as each service is ready.
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { litellmCommand } from "../../ensure-litellm.mjs";
import { freePort } from "../../free-port.mjs";
import { runConsole } from "../../run-console.mjs";
import { runService } from "../../run-service.mjs";
import { root } from "../../workspace-packages.mjs";
import { RUNTIME_FOLDER } from "../topology.mjs";
import { NATIVE_FOLDER } from "./native-process.mjs";
import { runProgram } from "./run-program.mjs";
import { startDatabase } from "./start-database.mjs";

const HOST = "127.0.0.1";
const SPEND_LOG = join(NATIVE_FOLDER, "litellm", "spend.jsonl");
const { env } = process;
/** @type {(() => Promise<void>)[]} */
const stops = [];
const healthy = (/** @type {string} */ service) => process.send?.(service);
const port = (/** @type {number} */ from) => freePort({ host: HOST, wanted: undefined, from });

process.once("SIGTERM", () => void stopAll(0));
// The parent leaves as soon as everything is ready.
process.on("disconnect", () => {});

try {
  const database = await startDatabase(join(NATIVE_FOLDER, "postgres"));
  stops.unshift(database.stop);
  healthy("postgres");
  const redisUrl = await startRedis();
  healthy("redis");
  const litellmUrl = await startLitellm();
  healthy("litellm");
  const serviceUrl = await startService({ databaseUrl: database.url, redisUrl, litellmUrl });
  healthy("langgraph-server");
  const console = await runConsole({
    serviceUrl,
    signIn: "token",
    host: HOST,
    port: Number(env.WEB_PORT || 3_000),
    onTrouble: fail,
    onLost: fail,
  });
  stops.unshift(console.stop);
  healthy("web");
} catch (error) {
  console.error(error);
  await stopAll(1);
}

async function startRedis() {
  const at = await port(26_400);
  const args = ["--bind", HOST, "--port", String(at), "--save", "", "--appendonly", "no"];
  const redis = await runProgram("redis-server", args, { readyPort: at });
  stops.unshift(redis.stop);
  return `redis://${HOST}:${at}`;
}

async function startLitellm() {
  const folder = join(NATIVE_FOLDER, "litellm");
  mkdirSync(folder, { recursive: true });
  // LiteLLM looks for the logger beside its config.
  copyFileSync(
    env.LITELLM_CONFIG || join(RUNTIME_FOLDER, "litellm", "config.yaml"),
    join(folder, "config.yaml"),
  );
  const logger = "throughline_logger.py";
  copyFileSync(join(root, "packages", "billing", "litellm", logger), join(folder, logger));
  const at = await port(24_000);
  const litellm = await runProgram(
    litellmCommand(),
    ["--config", join(folder, "config.yaml"), "--host", HOST, "--port", String(at)],
    {
      cwd: folder,
      readyPort: at,
      env: {
        ...env,
        LITELLM_LOCAL_MODEL_COST_MAP: "true",
        THROUGHLINE_SPEND_LOG: SPEND_LOG,
      },
    },
  );
  stops.unshift(litellm.stop);
  return `http://${HOST}:${at}`;
}

/**
 * @param {{ databaseUrl: string; redisUrl: string; litellmUrl: string }} others
 * @returns {Promise<string>}
 */
function startService({ databaseUrl, redisUrl, litellmUrl }) {
  Object.assign(env, {
    LANGGRAPH_DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    LITELLM_BASE_URL: litellmUrl,
    LITELLM_API_KEY: env.LITELLM_MASTER_KEY,
    THROUGHLINE_SPEND_LOG: SPEND_LOG,
  });
  return new Promise((resolve, reject) => {
    const service = runService({
      order: {
        args: ["--host", HOST, "--port", String(env.LANGGRAPH_PORT || 8_123)],
        defaults: { THROUGHLINE_CONFIG: join(root, "packages", "langgraph-graphs", "langgraph.json") },
        hasWelcome: true,
      },
      onServing: ({ url }) => resolve(url),
      onTrouble: fail,
    });
    service.ended.then((code) => reject(new Error(`The service ended with ${code}.`)));
    stops.unshift(async () => {
      service.signal("SIGTERM");
      await service.ended;
    });
  });
}

/** @param {string} sentence */
function fail(sentence) {
  console.error(sentence);
}

/** @param {number} code */
async function stopAll(code) {
  for (const stop of stops.splice(0)) await stop().catch((error) => console.error(error));
  process.exit(code);
}
