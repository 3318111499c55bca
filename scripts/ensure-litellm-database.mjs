// @ts-check
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cacheFolder, installLitellm } from "./ensure-litellm.mjs";
import { runCommand } from "./run-command.mjs";
import { root } from "./workspace-packages.mjs";

const LOCK = join(root, "scripts/litellm/requirements.txt");
const PRISMA_LOCK = join(root, "scripts/litellm/prisma.txt");
const ENGINE_SOURCE = join(root, "scripts/litellm/query-engine");
const INSTALL_TIMEOUT_MS = 300_000;

/** Paths of what a LiteLLM with a database needs, whether it is there or not. */
function parts() {
  const environment = cacheFolder("litellm-database", [LOCK, PRISMA_LOCK]);
  const engine = cacheFolder(
    "litellm-query-engine",
    readdirSync(ENGINE_SOURCE).map((name) => join(ENGINE_SOURCE, name)),
  );
  return { environment, engine, isReady: join(environment, "ready"), isEngineReady: join(engine, "ready") };
}

/** How to start a LiteLLM with a database, but for its address. */
export function litellmWithDatabase() {
  const { environment, engine } = parts();
  const program = join(engine, "query-engine.mjs");
  return {
    command: join(environment, "bin/litellm"),
    env: {
      PRISMA_QUERY_ENGINE_BINARY: program,
      PRISMA_SCHEMA_ENGINE_BINARY: program,
      PRISMA_CLI_QUERY_ENGINE_TYPE: "binary",
      PRISMA_CLIENT_ENGINE_TYPE: "binary",
      // Prisma would ask the internet for its newest version.
      CHECKPOINT_DISABLE: "1",
      // Prisma's own command comes first: the one of the Python client would install another.
      PATH: [join(engine, "node_modules/.bin"), join(environment, "bin"), process.env.PATH].join(delimiter),
    },
  };
}

/** The statements that make LiteLLM's tables, in order. */
export function litellmMigrations() {
  const folder = join(extrasFolder(), "migrations");
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name, "migration.sql"))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8"));
}

function extrasFolder() {
  const libraries = join(parts().environment, "lib");
  const [python = ""] = readdirSync(libraries);
  return join(libraries, python, "site-packages/litellm_proxy_extras");
}

/**
 * Installs a LiteLLM with its database client, and the engine of that, pinned and with hashes; once.
 *
 * @returns {Promise<string | undefined>} what is missing to run it
 */
export async function ensureLitellmDatabase() {
  const { environment, engine, isReady, isEngineReady } = parts();
  try {
    if (!existsSync(isEngineReady)) {
      rmSync(engine, { recursive: true, force: true });
      cpSync(ENGINE_SOURCE, engine, { recursive: true });
      const npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
      await runCommand("npm", npm, { cwd: engine, timeoutMs: INSTALL_TIMEOUT_MS });
      writeFileSync(isEngineReady, "");
    }
    if (!existsSync(isReady)) {
      rmSync(environment, { recursive: true, force: true });
      await installLitellm(environment, [PRISMA_LOCK]);
      await generateClient(environment);
      writeFileSync(isReady, "");
    }
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return `LiteLLM with a database could not be installed, which needs Python 3.11, PyPI and npm: ${reason}`;
  }
}

/**
 * Writes the database client that belongs to LiteLLM's schema into its environment.
 *
 * @param {string} environment
 */
async function generateClient(environment) {
  const schema = readFileSync(join(extrasFolder(), "schema.prisma"), "utf8");
  const file = join(environment, "schema.prisma");
  // Engines of other systems would be downloaded.
  writeFileSync(file, schema.replace(/binaryTargets = .*/, 'binaryTargets = ["native"]'));
  const { env } = litellmWithDatabase();
  await runCommand("prisma", ["generate", `--schema=${file}`], {
    cwd: environment,
    env: { ...process.env, ...env },
    timeoutMs: INSTALL_TIMEOUT_MS,
  });
}
