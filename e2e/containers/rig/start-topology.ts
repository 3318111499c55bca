import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Compose, openCompose } from "../../../scripts/containers/compose.mjs";
import { fillSecrets, parseEnvironment } from "../../../scripts/containers/environment.mjs";
import type { ContainerEngine } from "../../../scripts/containers/find-engine.mjs";
import { imageName, NETWORK, publishedUrls } from "../../../scripts/containers/topology.mjs";
import { freePort } from "../../../scripts/free-port.mjs";
import { buildImages } from "./build-images.js";
import { until } from "./until.js";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..", "..");
const PROJECT = "throughline-e2e";
const HOST = "127.0.0.1";

/** One container, by its name on the network. */
export interface Container {
  readonly name: string;
  isHealthy(): Promise<boolean>;
  /** Kills its process, as a crash would; resolves when it came back by itself and is healthy. */
  crash(): Promise<void>;
  /** Asks it to stop, and gives its exit code and how long it took. */
  stop(graceSeconds: number): Promise<{ code: number; ms: number }>;
  /** Kills it for good: nothing restarts it. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Runs a command in it, and gives what it printed. */
  exec(...command: string[]): Promise<string>;
  logs(): Promise<string>;
}

export interface Topology {
  readonly engine: ContainerEngine;
  readonly env: NodeJS.ProcessEnv;
  /** Runs a command of the engine, and gives what it printed. */
  ask(...args: string[]): Promise<string>;
  readonly consoleUrl: string;
  /** Both replicas of the service. */
  readonly first: Replica;
  readonly second: Replica;
  container(service: string): Promise<Container>;
  stop(): Promise<void>;
}

export interface Replica {
  readonly url: string;
  readonly container: Container;
}

/** Starts the compose file's topology, an upstream and a second replica beside it. */
export async function startTopology(): Promise<Topology> {
  const { engine, env: machine } = await buildImages();
  const env = await topologyEnvironment(machine);
  const ask = async (...args: string[]) =>
    (await run(engine.name, args, { env, maxBuffer: 2 ** 26 })).stdout.trim();
  const compose = openCompose(engine, { env, project: PROJECT });
  const extra = ["upstream", "langgraph-server-2"];

  async function stop(): Promise<void> {
    for (const name of extra) await ask("rm", "--force", `${PROJECT}-${name}`).catch(() => {});
    await compose.down({ volumes: true });
  }

  try {
    await compose.start("postgres");
    await compose.start("redis");
    await ask(
      ...[
        "run",
        "--detach",
        "--name",
        `${PROJECT}-upstream`,
        "--network",
        NETWORK,
        "--network-alias",
        "upstream",
      ],
      ...["--volume", `${ROOT}:/repository:ro`, "--entrypoint", "node", imageName("langgraph-server", env)],
      "/repository/e2e/containers/rig/serve-upstream.mjs",
    );
    await compose.start("litellm");
    const secondPort = await freePort({ host: HOST, wanted: undefined, from: 8_200 });
    // Both at once on an empty database: each would make the tables.
    await Promise.all([compose.start("langgraph-server"), startSecond(secondPort)]);
    await compose.start("web");
    const { service, console: consoleUrl } = publishedUrls(env);
    const container = (name: string) =>
      openContainer({ compose, ask, engine }, name, composed(compose, name));
    const secondName = "langgraph-server-2";
    const second = await openContainer(
      { compose, ask, engine },
      secondName,
      async () => `${PROJECT}-${secondName}`,
    );
    await until("the second replica is healthy", () => second.isHealthy());
    return {
      engine,
      env,
      ask,
      consoleUrl,
      first: { url: service, container: await container("langgraph-server") },
      second: { url: `http://${HOST}:${secondPort}`, container: second },
      container,
      stop,
    };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }

  /** As the compose file's service, with another name and port: a file that names its container can't be scaled. */
  async function startSecond(port: number): Promise<void> {
    await until(
      "the first replica exists",
      async () => (await compose.containerOf("langgraph-server")) !== undefined,
    );
    const first = await composed(compose, "langgraph-server")();
    const settings: string[] = JSON.parse(await ask("inspect", "--format", "{{json .Config.Env}}", first));
    const own = settings.filter((line) => /^(?:LITELLM|LANGGRAPH|REDIS|THROUGHLINE)_/.test(line));
    await ask(
      ...["run", "--detach", "--name", `${PROJECT}-langgraph-server-2`, "--network", NETWORK],
      ...["--network-alias", "langgraph-server-2", "--publish", `${HOST}:${port}:8000`],
      ...["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--restart", "unless-stopped"],
      ...own.flatMap((line) => ["--env", line]),
      imageName("langgraph-server", env),
    );
  }
}

async function topologyEnvironment(machine: Readonly<Record<string, string>>): Promise<NodeJS.ProcessEnv> {
  const example = parseEnvironment(fillSecrets(readFileSync(join(ROOT, ".env.local.example"), "utf8")));
  const port = (from: number) => freePort({ host: HOST, wanted: undefined, from });
  return {
    ...example,
    ...process.env,
    ...machine,
    LANGGRAPH_PORT: String(await port(8_123)),
    WEB_PORT: String(await port(3_000)),
    LITELLM_CONFIG: join(ROOT, "e2e", "containers", "litellm.yaml"),
    LITELLM_VIRTUAL_KEYS: JSON.stringify({ acme: example.LITELLM_MASTER_KEY }),
    THROUGHLINE_DEFAULT_MODEL: "cheap",
    // What vitest sets for tests in this process is not for the containers.
    THROUGHLINE_LOG_LEVEL: "info",
  };
}

const composed = (compose: Compose, service: string) => async () => {
  const id = await compose.containerOf(service);
  if (id === undefined) throw new Error(`${service} has no container.`);
  return id;
};

async function openContainer(
  { compose, ask, engine }: { compose: Compose; ask: Topology["ask"]; engine: ContainerEngine },
  name: string,
  find: () => Promise<string>,
): Promise<Container> {
  const id = await find();
  const state = async (field: string) => ask("inspect", "--format", `{{.State.${field}}}`, id);
  const isHealthy = async () =>
    (await state("Status")) === "running" && (await compose.isHealthy(id).catch(() => false));
  return {
    name,
    isHealthy,
    async crash() {
      const pid = Number(await state("Pid"));
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // The engine is a machine of its own. What it kills by hand it does not restart.
        await ask("kill", id);
        await ask("start", id);
      }
      await until(`${name} was restarted`, async () => ![0, pid].includes(Number(await state("Pid"))));
      await until(`${name} is healthy`, isHealthy);
    },
    async stop(graceSeconds) {
      const started = performance.now();
      await ask("stop", "--time", String(graceSeconds), id);
      return { code: Number(await state("ExitCode")), ms: performance.now() - started };
    },
    async kill() {
      // Without a grace time the signal is SIGKILL; what is stopped by hand is not restarted.
      await ask("stop", "--time", "0", id);
    },
    async start() {
      await ask("start", id);
      await until(`${name} is healthy`, isHealthy);
    },
    exec: (...command) => ask("exec", id, ...command),
    logs: async () => {
      const { stdout, stderr } = await run(engine.name, ["logs", id], { maxBuffer: 2 ** 26 });
      return `${stdout}${stderr}`;
    },
  };
}
