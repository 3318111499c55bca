// @ts-check
import { setTimeout as pause } from "node:timers/promises";
import { runCommand } from "../run-command.mjs";
import { root } from "../workspace-packages.mjs";
import { composeFile, NETWORK, PROJECT } from "./topology.mjs";

/** @typedef {import("./find-engine.mjs").ContainerEngine} ContainerEngine */

const POLL_MS = 500;
const READY_MS = 240_000;

/**
 * @typedef {object} Compose
 * @property {(service: string) => Promise<void>} start starts one service, and resolves when it is healthy
 * @property {(options?: { volumes?: boolean }) => Promise<void>} down
 * @property {(service: string) => Promise<string | undefined>} containerOf the id of a service's container
 * @property {(container: string) => Promise<boolean>} isHealthy
 */

/**
 * The compose file on an engine. Services are started one by one: podman-compose does not wait for `service_healthy`.
 *
 * @param {ContainerEngine} engine
 * @param {{ env: NodeJS.ProcessEnv; project?: string }} options
 * @returns {Compose}
 */
export function openCompose(engine, { env, project = PROJECT }) {
  const [command, ...before] = engine.compose;
  const options = { cwd: root, env };
  const named = [...before, "-p", project, "-f", composeFile("dev")];
  const compose = (/** @type {string[]} */ ...args) => runCommand(command, [...named, ...args], options);
  const ask = (/** @type {string[]} */ ...args) => runCommand(engine.name, args, options);

  /** @type {Compose["containerOf"]} */
  async function containerOf(service) {
    const labels = { project, service };
    const filters = Object.entries(labels).flatMap(([name, value]) => [
      "--filter",
      `label=com.docker.compose.${name}=${value}`,
    ]);
    const [id] = (await ask("ps", "--all", "--quiet", ...filters)).trim().split("\n");
    return id || undefined;
  }

  /** @type {Compose["isHealthy"]} */
  async function isHealthy(container) {
    // podman needs systemd to make checks by itself, so it is told to.
    if (engine.name === "podman") {
      return ask("healthcheck", "run", container).then(
        () => true,
        () => false,
      );
    }
    return (await ask("inspect", "--format", "{{.State.Health.Status}}", container)).trim() === "healthy";
  }

  return {
    containerOf,
    isHealthy,
    async start(service) {
      if ((await containerOf(service)) === undefined || engine.name === "docker") {
        await compose("up", "--detach", "--no-build", service);
      } else {
        await compose("start", service);
      }
      for (
        const deadline = performance.now() + READY_MS;
        performance.now() < deadline;
        await pause(POLL_MS)
      ) {
        const container = await containerOf(service);
        if (container !== undefined && (await isHealthy(container))) return;
      }
      const container = await containerOf(service);
      const log = container === undefined ? "" : await ask("logs", "--tail", "30", container);
      throw new Error(`${service} was not healthy after ${READY_MS / 1_000} s.\n${log}`);
    },
    async down({ volumes = false } = {}) {
      await compose("down", ...(volumes ? ["--volumes"] : []));
      // podman-compose leaves the network behind; one that others use stays.
      if (engine.name === "podman") await ask("network", "rm", NETWORK).catch(() => {});
    },
  };
}
