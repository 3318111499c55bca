import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { buildChildProgram, type ChildProgram, untilExit } from "../testing/child-program.js";
import { openTestPostgres, type TestPostgres } from "../testing/test-postgres.js";
import { RESTART_EXIT_CODE } from "./guard-process.js";

const GRAPH = [
  'import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";',
  // Outside of any run.
  'process.on("SIGUSR2", () => void Promise.reject(new Error("password=my-private-word")));',
  'export const graph = new StateGraph(MessagesAnnotation).addNode("say", () => ({ messages: [] }))',
  '  .addEdge("__start__", "say").addEdge("say", "__end__").compile();',
].join("\n");

describe("a server that is started by hand", () => {
  let program: ChildProgram;
  let postgres: TestPostgres;
  let folder: string;
  beforeAll(async () => {
    program = await buildChildProgram(new URL("../testing/serve-program.ts", import.meta.url));
    postgres = await openTestPostgres();
    // Below this package, where its dependencies are found.
    folder = mkdtempSync(join(import.meta.dirname, "..", "..", "node_modules", ".cache", "stray-"));
    writeFileSync(join(folder, "graph.mjs"), GRAPH);
    writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ graphs: { quiet: "./graph.mjs:graph" } }));
  }, 60_000);
  afterAll(async () => {
    program.remove();
    rmSync(folder, { recursive: true, force: true });
    await postgres.close();
  });

  it("hands over and exits to be restarted when an error reaches the process", async () => {
    const env = { LANGGRAPH_DATABASE_URL: postgres.url, THROUGHLINE_LOG_LEVEL: "info" };
    const child = program.start([join(folder, "langgraph.json")], env, { stdout: "pipe" });
    let printed = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      printed += chunk;
    });
    const url = await new Promise<string>((done) =>
      child.once("message", (message) => done(z.object({ url: z.string() }).parse(message).url)),
    );
    expect((await fetch(`${url}/health`)).ok).toBe(true);
    child.kill("SIGUSR2");
    expect(await untilExit(child)).toBe(RESTART_EXIT_CODE);
    await expect.poll(() => printed).toContain('"level":60');
    const fatal = printed.split("\n").find((line) => line.includes('"level":60'));
    expect(JSON.parse(fatal ?? "{}")).toMatchObject({ err: { message: "password=[secret]" } });
  }, 60_000);
});
