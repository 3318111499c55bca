import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { otherNodes } from "./rig/other-nodes.js";
import { install, PACKAGE_MANAGERS } from "./rig/package-manager.js";
import { type Stranger, stranger } from "./rig/stranger.js";
import { tarballDependencies, tarballs } from "./rig/tarballs.js";

const LONG = 900_000;
const CLONE = resolve(import.meta.dirname, "../..");
const names = [...tarballs().keys()];

/** Every way into a package, as its `exports` name them. */
function entries(modules: string): readonly string[] {
  return names.flatMap((name) => {
    const { exports } = JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
    return Object.keys(exports)
      .filter((entry) => entry !== "./package.json")
      .map((entry) => join(name, entry));
  });
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

let tools: Stranger;
let nodes: ReadonlyMap<string, string> | undefined;
beforeAll(() => {
  tools = stranger();
});
afterAll(() => tools.leave());

describe.each(PACKAGE_MANAGERS)("every package, installed by %s", { timeout: LONG }, (manager) => {
  let person: Stranger;
  const modules = () => join(person.folder, "node_modules");

  beforeAll(async () => {
    person = stranger();
    const dependencies = {
      ...tarballDependencies(),
      "@langchain/core": "1.2.13",
      "@langchain/langgraph": "1.4.17",
      "@types/node": "20.19.43",
      "@types/react": "19.3.0",
      react: "19.3.1",
      typescript: "5.9.3",
    };
    const manifest = { name: "consumer", private: true, type: "module", dependencies };
    writeFileSync(join(person.folder, "package.json"), JSON.stringify(manifest));
    const overrides = Object.entries(tarballDependencies()).map(([name, spec]) => `  "${name}": "${spec}"`);
    const settings = ["strictDepBuilds: false", "overrides:", ...overrides, ""];
    writeFileSync(join(person.folder, "pnpm-workspace.yaml"), settings.join("\n"));
    await install(person, manager);
  }, LONG);
  afterAll(() => person.leave(), LONG);

  it("is imported by each Node", async () => {
    const script = join(person.folder, "imports.mjs");
    const statements = entries(modules()).map(
      (entry) => `console.log(Object.keys(await import("${entry}")).length);`,
    );
    writeFileSync(script, statements.join("\n"));
    const own = await person.run(process.execPath, [script]);
    expect(own.trim().split("\n")).toHaveLength(statements.length);
    nodes ??= await otherNodes(tools);
    for (const [version, node] of nodes) {
      expect(await person.run(node, ["--version"])).toMatch(new RegExp(`^v${version}\\.`));
      expect([version, await person.run(node, [script])]).toEqual([version, own]);
    }
  });

  it.each(["Bundler", "NodeNext"])(
    "has types that a strict project compiles, with %s",
    async (resolution) => {
      const imports = entries(modules()).map(
        (entry, at) => `import * as entry${at} from "${entry}";\nvoid entry${at};`,
      );
      writeFileSync(join(person.folder, "consumer.ts"), imports.join("\n"));
      const compilerOptions = {
        target: "ES2022",
        lib: ["ES2023", "DOM", "DOM.Iterable", "DOM.AsyncIterable"],
        module: resolution === "Bundler" ? "ESNext" : "NodeNext",
        moduleResolution: resolution,
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        skipLibCheck: true,
        types: ["node"],
      };
      const config = { compilerOptions, files: ["consumer.ts"] };
      writeFileSync(join(person.folder, "tsconfig.json"), JSON.stringify(config));
      await person.run(process.execPath, [
        join(modules(), "typescript", "bin", "tsc"),
        "-p",
        "tsconfig.json",
      ]);
    },
  );

  it("runs the command", async () => {
    const bin = join(modules(), ".bin", "throughline");
    expect(await person.run(bin, ["--help"])).toContain("throughline COMMAND");
    await expect(person.run(bin, ["no-such-command"])).rejects.toThrow(
      'There is no command "no-such-command".',
    );
  });
});

describe("a tarball", { timeout: LONG }, () => {
  let person: Stranger;
  beforeAll(() => {
    person = stranger();
  });
  afterAll(() => person.leave());

  it.each(names)(
    "of %s has a README and a licence, and neither tests nor paths of this machine",
    async (name) => {
      const path = tarballs().get(name) ?? "";
      await person.run("tar", ["-xzf", path], { in: name });
      const folder = join(person.folder, name, "package");
      expect(existsSync(join(folder, "README.md"))).toBe(true);
      expect(existsSync(join(folder, "LICENSE"))).toBe(true);
      const manifest = readFileSync(join(folder, "package.json"), "utf8");
      expect(manifest).not.toContain("workspace:");
      expect(JSON.parse(manifest)).toMatchObject({ license: "MIT", keywords: expect.any(Array) });
      const machine = [CLONE, homedir()].filter((one) => one.length > 1).map((one) => `${one}/`);
      for (const file of filesBelow(folder)) {
        // A new project has a test of its own.
        if (!file.includes("/template/")) expect(file).not.toMatch(/\.test\.|\/testing\/|\/fixtures\//);
        if (/\.node$/.test(file)) throw new Error(`${file} is of one platform alone.`);
        const text = readFileSync(file, "latin1");
        expect([file, machine.filter((one) => text.includes(one))]).toEqual([file, []]);
      }
    },
  );

  it("passes publint and Are The Types Wrong", async () => {
    const tools = { "@arethetypeswrong/cli": "0.18.5", publint: "0.3.25" };
    writeFileSync(
      join(person.folder, "package.json"),
      JSON.stringify({ private: true, dependencies: tools }),
    );
    await person.run("npm", ["install", "--no-audit", "--no-fund"]);
    for (const path of tarballs().values()) {
      await person.run("npx", ["--no-install", "publint", "--strict", path]);
      await person.run("npx", ["--no-install", "attw", "--profile", "esm-only", path]);
    }
  });
});
