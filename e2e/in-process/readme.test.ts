import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { loadProjectGraphs } from "@throughline/graph-executor";
import { createHandler, createService, devCaller } from "@throughline/langgraph-server";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Chromium, hasChromium, launchChromium } from "../browser/chromium.js";
import { servePage } from "../client/page/serve-page.js";
import { writeMarkdownFiles } from "./markdown-files.js";
import { serveHandler } from "./serve-handler.js";

const ROOT = resolve(import.meta.dirname, "../..");
const REACT = join(ROOT, "packages/agent-react");
/** A new project's, so that what the README says to put there fits. */
const PROJECT = join(ROOT, "packages/create-throughline/template/langgraph.json");

describe("The README's own graph and front end", () => {
  let folder: string;
  let url: string;
  const closing: (() => unknown)[] = [];

  beforeAll(async () => {
    folder = mkdtempSync(join(ROOT, "e2e/.readme-"));
    closing.push(() => rmSync(folder, { recursive: true }));
    expect(writeMarkdownFiles(join(ROOT, "README.md"), folder)).toEqual(["src/agent.ts", "src/page.tsx"]);
    writeFileSync(join(folder, "langgraph.json"), readFileSync(PROJECT));
    const graphs = await loadProjectGraphs(join(folder, "langgraph.json"));
    const service = await createService({ store: { kind: "memory" }, graphs });
    const handler = createHandler({ service, caller: devCaller() });
    const server = await serveHandler(handler);
    url = server.url;
    closing.push(
      () => service.close({ drainMs: 0 }),
      () => handler.close(),
      () => server.stop(),
    );
  });
  afterAll(async () => {
    for (const close of closing.reverse()) await close();
  });

  const linesOf = (file: string) =>
    readFileSync(join(folder, file), "utf8")
      .split("\n")
      .filter((line) => line !== "");

  it("are as long as it says", () => {
    expect([linesOf("src/agent.ts").length, linesOf("src/page.tsx").length]).toEqual([5, 10]);
  });

  it.runIf(hasChromium())(
    "answer in a browser, and once more after a reload",
    { timeout: 60_000 },
    async () => {
      const script = await bundlePage(join(folder, "src/page.tsx"));
      const served = await servePage({ target: () => url, script });
      const chromium: Chromium = await launchChromium();
      closing.push(
        () => served.stop(),
        () => chromium.close(),
      );
      const page = await chromium.context.newPage();
      await page.goto(served.pageUrl({ agentId: "", threadId: "" }));
      const said = () => page.locator("p").allTextContents();
      for (const [index, words] of ["Good morning", "And again"].entries()) {
        await page.locator("input").fill(words);
        await page.locator("input").press("Enter");
        await expect.poll(said, { timeout: 20_000 }).toHaveLength(2 * (index + 1));
        await expect.poll(async () => (await said()).at(-1), { timeout: 20_000 }).toBe(`You said: ${words}`);
        await page.reload();
      }
    },
  );
});

/** As a bundler does it, with React and our packages where a project has them. */
async function bundlePage(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    target: "es2022",
    jsx: "automatic",
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"production"' },
    nodePaths: [join(REACT, "node_modules")],
    alias: { "@throughline/agent-react": join(REACT, "dist/index.js") },
  });
  return outputFiles[0]?.text ?? "";
}
