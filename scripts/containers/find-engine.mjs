// @ts-check
import { runCommand } from "../run-command.mjs";
import { root } from "../workspace-packages.mjs";

/**
 * @typedef {object} ContainerEngine
 * @property {"docker" | "podman"} name
 * @property {readonly [command: string, ...args: string[]]} compose what reads compose files
 */

/** @type {readonly ContainerEngine[]} */
const ENGINES = [
  { name: "docker", compose: ["docker", "compose"] },
  { name: "podman", compose: ["podman-compose"] },
];

export const NO_ENGINE = [
  "No container engine answers here. Install Docker (https://docs.docker.com/engine/install), or podman:",
  "  Debian, Ubuntu   sudo apt-get install podman podman-compose netavark aardvark-dns",
  "  Fedora           sudo dnf install podman podman-compose",
  "  macOS            brew install podman podman-compose && podman machine init --now",
  "or run the same topology from local programs: npm run langgraph:up -- --native",
].join("\n");

/**
 * Docker if its engine answers, else podman. A Docker client alone is not enough.
 *
 * @param {(command: string, args: readonly string[]) => Promise<boolean>} [answers]
 * @returns {Promise<ContainerEngine | undefined>}
 */
export async function findEngine(answers = succeeds) {
  for (const engine of ENGINES) {
    const [command, ...args] = engine.compose;
    if ((await answers(engine.name, ["info"])) && (await answers(command, [...args, "version"]))) {
      return engine;
    }
  }
  return undefined;
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 */
async function succeeds(command, args) {
  try {
    await runCommand(command, args, { cwd: root, timeoutMs: 20_000 });
    return true;
  } catch {
    return false;
  }
}

/** The engine, or an error that says what to type. */
export async function requireEngine() {
  const engine = await findEngine();
  if (!engine) throw new Error(NO_ENGINE);
  return engine;
}
