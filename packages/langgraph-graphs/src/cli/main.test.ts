import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsdown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const packageDir = fileURLToPath(new URL("../..", import.meta.url));
let built: string;

// Built from the source under test, below the package so that its dependencies resolve, and not into dist.
beforeAll(async () => {
  const cache = join(packageDir, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  built = mkdtempSync(join(cache, "cli-"));
  await build({
    cwd: packageDir,
    config: false,
    entry: { cli: "src/cli/main.ts" },
    outDir: built,
    format: "esm",
    platform: "node",
    fixedExtension: false,
    dts: false,
    logLevel: "error",
  });
}, 30_000);
afterAll(() => rmSync(built, { recursive: true, force: true }));

function start(args: readonly string[], env: Record<string, string> = {}) {
  const code = `import { main } from ${JSON.stringify(join(built, "cli.js"))};
    const code = await main(${JSON.stringify(args)});
    process.exit(code);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, LITELLM_BASE_URL: "", THROUGHLINE_OFFLINE_PACE_MS: "0", ...env },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (data) => {
    output.stdout += data;
  });
  child.stderr.on("data", (data) => {
    output.stderr += data;
  });
  return { child, output };
}

async function run(args: readonly string[], stdin = "") {
  const { child, output } = start(args);
  child.stdin.end(stdin);
  const [code] = await once(child, "close");
  return { code, ...output };
}

describe.concurrent("npm run graph", { timeout: 30_000 }, () => {
  it("explains itself and every graph", async () => {
    const { code, stdout } = await run(["--help"]);
    expect(code).toBe(0);
    for (const word of ["chat", "travel", "sentinel", "--input", "--json", "NO_COLOR", "Examples"]) {
      expect(stdout).toContain(word);
    }
  });

  it("shows steps, text, tool calls, results and usage, and no colours in a pipe", async () => {
    const { code, stdout, stderr } = await run(["chat", "First tell me, then compute 6 * 7"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(
      /^▸ agent\n {2}First the plan.*\n {2}→ calculator {"expression":"6 \* 7"}\n▸ tools\n {2}← calculator: 6 \* 7 = 42\n▸ agent\n/,
    );
    expect(stdout).toMatch(/2 model calls, \d+ tokens in, \d+ out\n$/);
    expect(stdout).not.toContain("\u001b[");
  });

  it("asks at an interrupt, marks the recommendation, and takes piped answers in order", async () => {
    const { code, stdout } = await run(["travel", "Plan my trip"], "2\nhotel zephyr\n");
    expect(code).toBe(0);
    expect(stdout).toMatch(/1\. KLM.*\(recommended\)\n {2}2\. United/);
    expect(stdout).toMatch(/\n {4}Your seat is with United/);
    expect(stdout).toMatch(/\n {4}Your room is at Hotel Zephyr/);
  });

  it("takes turn after turn from a pipe when no text is given, in one thread", async () => {
    const { code, stdout } = await run(["chat"], "My name is Ada.\nHello again\n");
    expect(code).toBe(0);
    expect(stdout).toContain("it began with “My name is Ada.”");
  });

  it("prints one JSON object per chunk with --json, and nothing else", async () => {
    const { code, stdout } = await run(["poet", "--json", "the sea"]);
    expect(code).toBe(0);
    const chunks = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(new Set(chunks.map((chunk) => chunk.mode))).toEqual(new Set(["tasks", "messages", "updates"]));
    const tokens = chunks.filter((chunk) => chunk.mode === "messages").map((chunk) => chunk.data[0]);
    expect(tokens.every((token) => token.type === "ai")).toBe(true);
    expect(tokens.map((token) => token.content).join("")).toContain("the sea");
  });

  it.each([
    ["an unknown graph", ["pot"], 'There is no graph "pot". Did you mean "poet"? There are: chat, poet,'],
    ["bad JSON", ["chat", "--input", "{bad"], "--input is not valid JSON"],
    ["nothing to run", ["chat"], "Nothing to run"],
    [
      "no answer to a question",
      ["travel", "Plan my trip"],
      "The graph asks a question and standard input has ended",
    ],
  ])("answers %s with one line and exit code 2", async (_, args, message) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  it("ends with 130 on Ctrl-C while the model speaks", async () => {
    const { child, output } = start(["poet", "--pace", "1000", "the sea"]);
    while (!output.stdout.includes("▸ poet")) await once(child.stdout, "data");
    child.kill("SIGINT");
    const [code] = await once(child, "close");
    expect(code).toBe(130);
    expect(output.stderr).toBe("");
  });
});
