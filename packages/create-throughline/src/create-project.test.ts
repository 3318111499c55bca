import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createProject, NotEmptyFolder } from "./create-project.js";

const TEMPLATE = join(import.meta.dirname, "..", "template");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "create-throughline-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (...path: readonly string[]) => readFileSync(join(folder, ...path), "utf8");
const manifestOf = (project: string) => JSON.parse(read(project, "package.json"));

describe("a new project", () => {
  it("has every file of the template, and its .gitignore by the name that git knows", () => {
    createProject({ folder: join(folder, "agent") });
    const expected = readdirSync(TEMPLATE).map((name) => (name === "gitignore" ? ".gitignore" : name));
    expect(readdirSync(join(folder, "agent")).sort()).toEqual(expected.sort());
  });

  it("is named after its folder and asks for the version of our packages that made it", () => {
    expect(createProject({ folder: join(folder, "Über Agent_2") }).name).toBe("ber-agent-2");
    const { version } = JSON.parse(readFileSync(join(TEMPLATE, "..", "package.json"), "utf8"));
    const { name, dependencies } = manifestOf("Über Agent_2");
    expect(name).toBe("ber-agent-2");
    expect(dependencies["@throughline/cli"]).toBe(version);
    expect(dependencies["@langchain/langgraph"]).toMatch(/^\d/);
  });

  it("may be made in a folder that holds a repository and nothing else", () => {
    mkdirSync(join(folder, ".git"));
    createProject({ folder });
    expect(existsSync(join(folder, "langgraph.json"))).toBe(true);
  });

  it("is not made where files are, which stay as they were", () => {
    writeFileSync(join(folder, "package.json"), "{}");
    expect(() => createProject({ folder })).toThrow(NotEmptyFolder);
    expect(readdirSync(folder)).toEqual(["package.json"]);
  });

  it("installs from tarballs where it is told to, also what they need of each other", () => {
    const tarballs = join(folder, "tarballs");
    mkdirSync(tarballs);
    for (const name of ["throughline-cli", "throughline-ai-core", "create-throughline"]) {
      writeFileSync(join(tarballs, `${name}-0.0.0.tgz`), "");
    }
    createProject({ folder: join(folder, "agent"), packages: tarballs });
    const core = "file:../tarballs/throughline-ai-core-0.0.0.tgz";
    expect(manifestOf("agent").dependencies).toMatchObject({
      "@throughline/cli": "file:../tarballs/throughline-cli-0.0.0.tgz",
      "@throughline/ai-core": core,
      "create-throughline": "file:../tarballs/create-throughline-0.0.0.tgz",
    });
    const { overrides } = parse(read("agent", "pnpm-workspace.yaml"));
    expect(overrides["@throughline/ai-core"]).toBe(core);
    expect(Object.keys(overrides).filter((name) => !name.includes("throughline"))).toEqual([]);
  });

  it("says so where the folder it is told of has no tarballs", () => {
    expect(() => createProject({ folder: join(folder, "agent"), packages: folder })).toThrow(
      /holds no tarballs of Throughline\. Make them with npm run pack/,
    );
  });
});

describe("LangChain", () => {
  it("is the project's own: named in its dependencies, and overridden nowhere", () => {
    createProject({ folder: join(folder, "agent") });
    const { dependencies, overrides } = manifestOf("agent");
    expect(Object.keys(dependencies)).toEqual(
      expect.arrayContaining(["@langchain/core", "@langchain/langgraph"]),
    );
    expect(overrides).toBeUndefined();
    expect(Object.keys(parse(read("agent", "pnpm-workspace.yaml")))).toEqual(["allowBuilds"]);
  });

  it("is a peer of our packages that import it, within one major version", () => {
    const packages = join(TEMPLATE, "..", "..");
    for (const name of ["graph-executor", "langgraph-server", "cli"]) {
      const manifest = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8"));
      expect(manifest.peerDependencies).toMatchObject({
        "@langchain/core": ">=1.1.48 <2",
        "@langchain/langgraph": ">=1.0.0 <2",
        "@langchain/langgraph-checkpoint": "^1.0.0",
      });
      expect(manifest.dependencies).not.toHaveProperty("@langchain/core");
      expect(manifest.dependencies).not.toHaveProperty("@langchain/langgraph");
    }
  });
});
