// @ts-check
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.mjs";
import { root } from "./workspace-packages.mjs";

const LOCK = join(root, "scripts/litellm/requirements.txt");
const UV_LOCK = join(root, "scripts/litellm/uv.txt");
const INSTALL_TIMEOUT_MS = 300_000;

function environmentFolder() {
  const lock = createHash("sha256").update(readFileSync(LOCK)).digest("hex").slice(0, 12);
  return join(root, "node_modules/.cache", `litellm-${lock}`);
}

/** The path of the proxy's command, whether it is there or not. */
export function litellmCommand() {
  return join(environmentFolder(), "bin/litellm");
}

/**
 * Installs the LiteLLM that tests start, pinned and with hashes, into an environment of its own; once. Its installer is
 * pinned in the same way: pip would take two minutes.
 *
 * @returns {Promise<string | undefined>} what is missing to run it
 */
export async function ensureLitellm() {
  if (existsSync(litellmCommand())) return undefined;
  const folder = environmentFolder();
  const python = join(folder, "bin/python");
  const options = { cwd: root, timeoutMs: INSTALL_TIMEOUT_MS };
  try {
    await runCommand("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"], options);
    await runCommand("python3", ["-m", "venv", folder], options);
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"];
    await runCommand(python, [...pip, "-r", UV_LOCK], options);
    const uv = ["pip", "install", "--quiet", "--python", python, "--require-hashes", "--no-deps"];
    await runCommand(join(folder, "bin/uv"), [...uv, "-r", LOCK], options);
    return undefined;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    const reason = error instanceof Error ? error.message : String(error);
    return `LiteLLM could not be installed, which needs Python 3.11 and PyPI: ${reason}`;
  }
}
