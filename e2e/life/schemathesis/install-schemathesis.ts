import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const VERSION = "4.32.5";
const VENV = join(
  dirname(fileURLToPath(import.meta.url)),
  `../../node_modules/.cache/schemathesis-${VERSION}`,
);
const COMMAND = join(VENV, "bin/schemathesis");
const INSTALL_TIMEOUT_MS = 300_000;

const run = promisify(execFile);

/** The path of its command, installed once; `undefined` where there is no Python 3.10, or PyPI is out of reach. */
export async function installSchemathesis(): Promise<string | undefined> {
  if (existsSync(COMMAND)) return COMMAND;
  try {
    await run("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]);
    await run("python3", ["-m", "venv", VENV]);
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
    await run(join(VENV, "bin/python"), [...install, `schemathesis==${VERSION}`], {
      timeout: INSTALL_TIMEOUT_MS,
    });
    return COMMAND;
  } catch {
    rmSync(VENV, { recursive: true, force: true });
    return undefined;
  }
}
