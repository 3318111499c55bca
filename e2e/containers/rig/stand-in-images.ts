import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ContainerEngine } from "../../../scripts/containers/find-engine.mjs";

const run = promisify(execFile);
const NAMES = "localhost/throughline-stand-in";
const DEBIAN = `${NAMES}/debian:bookworm`;
const DOCKERFILES = join(import.meta.dirname, "..", "stand-ins");
/** As the public base image of the Dockerfiles has it. */
const NODE_MAJOR = "22";
const MAX_BUFFER = 2 ** 26;

/**
 * Images that stand in for the public ones where no image registry can be reached: Debian from its packages, and on it Node,
 * Python, PostgreSQL and Redis. Made once a machine; gives the variables that name them.
 */
export async function standInImages(
  { name }: ContainerEngine,
  given: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const env = { ...process.env, ...given };
  const engine = (...args: string[]) => run(name, args, { env, maxBuffer: MAX_BUFFER });
  const has = async (image: string) => (await engine("images", "--quiet", image)).stdout.trim() !== "";
  const folder = mkdtempSync(join(tmpdir(), "throughline-stand-ins-"));
  try {
    if (!(await has(DEBIAN))) await importDebian(join(folder, "debian"), name, env);
    const image = async (kind: string, context: () => Promise<string>) => {
      const tag = `${NAMES}/${kind}:bookworm`;
      if (await has(tag)) return tag;
      const file = join(DOCKERFILES, `${kind}.Dockerfile`);
      const flags = given.CONTAINER_BUILD_FLAGS?.split(" ") ?? [];
      await engine(
        "build",
        ...flags,
        "--build-arg",
        `DEBIAN=${DEBIAN}`,
        "-t",
        tag,
        "-f",
        file,
        await context(),
      );
      return tag;
    };
    return {
      NODE_IMAGE: await image("node", () => nodeContext(join(folder, "node"))),
      PYTHON_IMAGE: await image("python", async () => DOCKERFILES),
      POSTGRES_IMAGE: await image("postgres", async () => DOCKERFILES),
      REDIS_IMAGE: await image("redis", async () => DOCKERFILES),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function importDebian(folder: string, engine: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (!existsSync("/usr/sbin/debootstrap")) {
    throw new Error(
      "No image registry answers, and without debootstrap there is no base image. Install debootstrap.",
    );
  }
  await run("debootstrap", ["--variant=minbase", "bookworm", folder], { maxBuffer: MAX_BUFFER });
  for (const path of ["var/cache/apt/archives", "var/lib/apt/lists"])
    rmSync(join(folder, path), { recursive: true });
  mkdirSync(join(folder, "var/lib/apt/lists/partial"), { recursive: true });
  mkdirSync(join(folder, "var/cache/apt/archives/partial"), { recursive: true });
  const archive = `${folder}.tar`;
  await run("tar", ["-C", folder, "-cf", archive, "."]);
  await run(engine, ["import", archive, DEBIAN], { env, maxBuffer: MAX_BUFFER });
}

/** Node's binary and npm as npm's registry has them, laid out as the public image does. */
async function nodeContext(folder: string): Promise<string> {
  const prefix = join(folder, "installed");
  const packages = [`node-linux-${process.arch}@${NODE_MAJOR}`, "npm@10"];
  mkdirSync(prefix, { recursive: true });
  await run(
    "npm",
    ["install", "--prefix", prefix, "--no-save", "--silent", "--ignore-scripts", ...packages],
    {
      maxBuffer: MAX_BUFFER,
    },
  );
  const local = join(folder, "usr", "local");
  mkdirSync(join(local, "bin"), { recursive: true });
  mkdirSync(join(local, "lib", "node_modules"), { recursive: true });
  const modules = join(prefix, "node_modules");
  cpSync(join(modules, `node-linux-${process.arch}`, "bin", "node"), join(local, "bin", "node"));
  renameSync(join(modules, "npm"), join(local, "lib", "node_modules", "npm"));
  for (const program of ["npm", "npx"]) {
    symlinkSync(`../lib/node_modules/npm/bin/${program}-cli.js`, join(local, "bin", program));
  }
  rmSync(prefix, { recursive: true });
  return folder;
}
