import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type ContainerEngine, findEngine, NO_ENGINE } from "../../../scripts/containers/find-engine.mjs";
import { standInImages } from "./stand-in-images.js";

const run = promisify(execFile);
const PACKAGES = [
  "podman",
  "buildah",
  "podman-compose",
  "runc",
  "netavark",
  "aardvark-dns",
  "iptables",
  "debootstrap",
];
/** With these podman starts containers without systemd, and where raising limits is refused. */
const MODEST_SETTINGS = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
[engine]
runtime = "runc"
`;

export interface Machine {
  readonly engine: ContainerEngine;
  /** What the engine and builds on this machine need beside the environment that they have. */
  readonly env: Readonly<Record<string, string>>;
}

/** Finds a container engine, installing podman where that is ours to do, and what this machine needs to build with it. */
export async function prepareMachine(): Promise<Machine> {
  const engine = (await findEngine()) ?? (await installPodman());
  if (!engine) throw new Error(NO_ENGINE);
  const env = { ...(await clientSettings()), ...(engine.name === "podman" && podmanSettings()) };
  return {
    engine,
    env: { ...env, ...((await reachesRegistry(engine, env)) ? {} : await standInImages(engine, env)) },
  };
}

async function installPodman(): Promise<ContainerEngine | undefined> {
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return undefined;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update"], { env });
  await run("apt-get", ["install", "-y", "--no-install-recommends", ...PACKAGES], {
    env,
    maxBuffer: 2 ** 26,
  });
  return findEngine();
}

/** Registries and certificates that this machine's own clients use: builds inside of containers need them, too. */
async function clientSettings(): Promise<Record<string, string>> {
  const asked = {
    NPM_REGISTRY: npmSetting("registry"),
    NODE_EXTRA_CA_CERTS: npmSetting("cafile"),
    PYPI_INDEX: pipIndex(),
  };
  const answers = await Promise.all(
    Object.entries(asked).map(async ([name, answer]) => [name, process.env[name] ?? (await answer)] as const),
  );
  return Object.fromEntries(answers.flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

async function npmSetting(name: string): Promise<string | undefined> {
  const { stdout } = await run("npm", ["config", "get", name]);
  return ["undefined", "null"].includes(stdout.trim()) ? undefined : stdout.trim();
}

async function pipIndex(): Promise<string | undefined> {
  return run("python3", ["-m", "pip", "config", "get", "global.index-url"]).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  );
}

/** Without systemd podman has no cgroups of its own, and this machine may be a container itself. */
function podmanSettings(): Record<string, string> {
  if (existsSync("/run/systemd/private") || !existsSync("/usr/sbin/runc")) return {};
  const file = join(mkdtempSync(join(tmpdir(), "throughline-podman-")), "containers.conf");
  writeFileSync(file, MODEST_SETTINGS);
  return { CONTAINERS_CONF: file, BUILDAH_ISOLATION: "chroot", CONTAINER_BUILD_FLAGS: "--network host" };
}

async function reachesRegistry({ name }: ContainerEngine, env: Record<string, string>): Promise<boolean> {
  const image = "docker.io/library/redis:7-bookworm";
  return run(name, ["pull", "--quiet", image], { env: { ...process.env, ...env }, timeout: 120_000 }).then(
    () => true,
    () => false,
  );
}
