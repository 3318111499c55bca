import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openThread } from "../behaviour/thread-session.js";
import { createInProcProvider } from "../inproc/provider.js";
import type { GraphProvider } from "../provider.js";
import { loadProjectGraphs } from "./project-graphs.js";

const OWN_PROJECT = fileURLToPath(new URL("../../fixtures/own-project/langgraph.json", import.meta.url));

describe("Somebody's own project", () => {
  let provider: GraphProvider;

  beforeAll(async () => {
    process.env.OWN_PROJECT_KEPT = "from-the-process";
    provider = createInProcProvider({
      graphs: await loadProjectGraphs(OWN_PROJECT),
      checkpointer: new MemorySaver(),
    });
  });

  it("runs unchanged: TypeScript, its own imports, its own variables, a question and an answer", async () => {
    const session = openThread(provider, "greeter");
    const asked = (await session.say("Hi")).final;
    expect(asked.interrupts).toMatchObject([{ value: { question: "Who are you?" }, node: "greet" }]);
    const { final } = await session.answer({ [asked.interrupts[0]?.interrupt_id ?? ""]: "Ada" });
    expect(final.messages?.at(-1)).toMatchObject({ role: "assistant", content: "Ahoy, Ada!" });
  });

  it("may export a graph that is not compiled yet", async () => {
    const { final } = await openThread(provider, "builder").say("");
    expect(final.messages?.at(-1)?.content).toBe("Ahoy, stranger!");
  });

  it("may make its graph for each run, from the run's config", async () => {
    const { final } = await openThread(provider, "made").say("Hi");
    expect(final.messages?.at(-1)?.content).toBe("Made for acme.");
  });

  it("may be written in JavaScript", async () => {
    const { final } = await openThread(provider, "script").say("Hi");
    expect(final.messages?.at(-1)?.content).toBe("Plain JavaScript.");
  });

  it("is described by what its configuration and its graphs say", async () => {
    expect(await provider.listAgents()).toMatchObject([
      { graphId: "langgraph:greeter", name: "greeter", capabilities: ["chat"] },
      {
        graphId: "langgraph:builder",
        description: "The same, not compiled yet.",
        commands: ["tidy"],
        subgraphs: { greet: { messages: "lines", files: "papers", output: ["greeting"] } },
      },
      { graphId: "langgraph:made", capabilities: ["chat"] },
      { graphId: "langgraph:script", inputSchema: { properties: { messages: {} } } },
    ]);
  });

  it("never overrides a variable that the process has", () => {
    expect(process.env.OWN_PROJECT_KEPT).toBe("from-the-process");
    expect(process.env.OWN_PROJECT_GREETING).toBe("Ahoy");
  });
});

describe("A project with a mistake in it", () => {
  const folder = mkdtempSync(join(tmpdir(), "project-"));
  const config = join(folder, "langgraph.json");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ["a configuration that is not JSON", "{", "langgraph.json: is not JSON"],
    ["no graphs", "{}", "langgraph.json: graphs"],
    ["a name no agent can have", { graphs: { "My Graph": "./a.mjs:x" } }, "graphs.My Graph"],
    ["a list of no graphs", { graphs: {} }, "graphs: names no graph. Add one"],
    [
      "a name like a path",
      { graphs: { "../a": "./a.mjs:x" } },
      "graphs.../a: graphName must be 1–64 characters",
    ],
    [
      "an unknown key of a subgraph's shape",
      { graphs: { a: { path: "./exports.mjs:graph", subgraphs: { plan: { mesages: "talk" } } } } },
      'graphs.a.subgraphs.plan: Unrecognized key: "mesages"',
    ],
    ["a graph in Python", { graphs: { a: "./agent.py:graph" } }, "agent.py: is a Python graph"],
    [
      "custom authentication, which would not be asked",
      { graphs: { a: "./exports.mjs:graph" }, auth: { path: "./auth.ts:auth" } },
      'langgraph.json: auth: Throughline does not call the project\'s own authentication. Sign people in with THROUGHLINE_JWT_SECRET or THROUGHLINE_JWKS_URL. To serve the graphs without it, add "throughline": { "ignore": ["auth"] }.',
    ],
    [
      "routes of its own",
      { graphs: { a: "./exports.mjs:graph" }, http: { app: "./app.ts:app" } },
      "langgraph.json: http: ",
    ],
    [
      "a checkpointer of its own",
      { graphs: { a: "./exports.mjs:graph" }, checkpointer: { path: "./saver.ts:saver" } },
      "langgraph.json: checkpointer: the project's own checkpointer is not used",
    ],
    [
      "a LangGraph that is too old",
      { graphs: { a: "./old/graph.mjs:graph" } },
      "is made with LangGraph 0.3.12, which is too old",
    ],
    [
      "a file that is not there",
      { graphs: { a: "./missing.ts:graph" } },
      "missing.ts: there is no such file",
    ],
    [
      "an export that is not there",
      { graphs: { a: "./exports.mjs:graf" } },
      'no export "graf". It exports graph',
    ],
    [
      "an export that is no graph",
      { graphs: { a: "./exports.mjs:graph" } },
      'exports.mjs: "graph" is no graph',
    ],
    [
      "a factory of something else",
      { graphs: { a: "./exports.mjs:make" } },
      'exports.mjs: "make" is no graph',
    ],
    ["a file that throws", { graphs: { a: "./broken.mjs:graph" } }, "broken.mjs: could not be imported"],
  ])("is told of %s, by file and name", async (_, content, sentence) => {
    writeFileSync(
      join(folder, "exports.mjs"),
      "export const graph = { nodes: [] };\nexport const make = () => 7;\n",
    );
    writeFileSync(join(folder, "broken.mjs"), 'throw new Error("no key");\n');
    const old = join(folder, "old/node_modules/@langchain/langgraph");
    mkdirSync(old, { recursive: true });
    writeFileSync(join(old, "package.json"), '{ "name": "@langchain/langgraph", "version": "0.3.12" }');
    writeFileSync(
      join(folder, "old/graph.mjs"),
      "export const graph = { lg_is_pregel: true, stream() {} };\n",
    );
    writeFileSync(config, typeof content === "string" ? content : JSON.stringify(content));
    await expect(loadProjectGraphs(config)).rejects.toThrow(sentence);
  });

  it("is told that there is no configuration where it was said to be", async () => {
    await expect(loadProjectGraphs(join(folder, "nowhere.json"))).rejects.toThrow(
      "nowhere.json: there is no such file",
    );
  });

  it("is warned of what has no effect here, and served", async () => {
    const warnings: string[] = [];
    const graphs = { "reactAgent.v2": "./factory.mjs:make" };
    writeFileSync(join(folder, "factory.mjs"), 'export const make = () => { throw new Error("no run"); };\n');
    const more = {
      env: ".env",
      store: { index: { dims: 3 } },
      ui: {},
      auth: {},
      $schema: "x",
      node_version: "20",
    };
    const throughline = { ignore: ["auth"] };
    writeFileSync(config, JSON.stringify({ graphs, ...more, throughline, colour: "red" }));
    const source = await loadProjectGraphs(config, { onWarning: (sentence) => warnings.push(sentence) });
    expect(await source.list()).toMatchObject([{ graphId: "langgraph:reactAgent.v2" }]);
    expect(warnings.map((sentence) => sentence.replace(`${config}: `, ""))).toEqual([
      `env: there is no file ${join(folder, ".env")}.`,
      expect.stringMatching(/^store has no effect: /),
      expect.stringMatching(/^ui has no effect: /),
      "colour has no effect: Throughline does not know this key.",
    ]);
  });

  it("keeps its other graphs when a factory needs what only a run has", async () => {
    writeFileSync(
      join(folder, "needy.mjs"),
      'export const make = (config) => { if (!config.configurable.runId) throw new Error("no run"); return {}; };\n',
    );
    writeFileSync(config, JSON.stringify({ graphs: { needy: "./needy.mjs:make" } }));
    const graphs = await loadProjectGraphs(config);
    expect(await graphs.list()).toMatchObject([{ graphName: "needy", capabilities: [], inputSchema: {} }]);
    await expect(graphs.open("needy", { configurable: { runId: "r" } })).rejects.toThrow("is no graph");
    expect(await graphs.open("other", { configurable: {} })).toBeUndefined();
  });
});
