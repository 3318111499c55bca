// @ts-check
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.mjs";
import { root } from "./workspace-packages.mjs";

const LOCK = join(root, "scripts/litellm/requirements.txt");
const UV_LOCK = join(root, "scripts/litellm/uv.txt");
const INSTALL_TIMEOUT_MS = 300_000;

/**
 * A folder for what is installed from these files: another when they change.
 *
 * @param {string} name
 * @param {readonly string[]} files
 */
export function cacheFolder(name, files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return join(root, "node_modules/.cache", `${name}-${hash.digest("hex").slice(0, 12)}`);
}

const environmentFolder = () => cacheFolder("litellm", [LOCK]);

/** The path of the proxy's command, whether it is there or not. */
export function litellmCommand() {
  return join(environmentFolder(), "bin/litellm");
}

/**
 * Installs LiteLLM and what other locks name, pinned and with hashes, into a Python environment of its own. Its installer is
 * pinned in the same way: pip would take two minutes.
 *
 * @param {string} folder
 * @param {readonly string[]} [moreLocks]
 */
export async function installLitellm(folder, moreLocks = []) {
  const python = join(folder, "bin/python");
  const options = { cwd: root, timeoutMs: INSTALL_TIMEOUT_MS };
  await runCommand("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"], options);
  await runCommand("python3", ["-m", "venv", folder], options);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"];
  await runCommand(python, [...pip, "-r", UV_LOCK], options);
  const uv = ["pip", "install", "--quiet", "--python", python, "--require-hashes", "--no-deps"];
  const locks = [LOCK, ...moreLocks].flatMap((lock) => ["-r", lock]);
  await runCommand(join(folder, "bin/uv"), [...uv, ...locks], options);
}

/**
 * Installs the LiteLLM that tests start; once.
 *
 * @returns {Promise<string | undefined>} what is missing to run it
 */
export async function ensureLitellm() {
  if (existsSync(litellmCommand())) return undefined;
  const folder = environmentFolder();
  try {
    await installLitellm(folder);
    return undefined;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    const reason = error instanceof Error ? error.message : String(error);
    return `LiteLLM could not be installed, which needs Python 3.11 and PyPI: ${reason}`;
  }
}
