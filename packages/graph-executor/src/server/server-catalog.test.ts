import { createServer } from "node:http";
import { Client } from "@langchain/langgraph-sdk";
import { systemClock } from "@throughline/ai-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { GraphNotes } from "../graphs/graph.js";
import { createServerCatalog } from "./catalog.js";
import { createLangGraphServerAdapter } from "./executor.js";
import { type DevServer, startDevServer } from "./testing/dev-server.js";

describe("The agents of a LangGraph server", () => {
  let server: DevServer;
  let client: Client;
  beforeAll(async () => {
    server = await startDevServer();
    client = new Client({ apiUrl: server.url });
  }, 120_000);
  afterAll(() => server?.stop());

  const catalogOf = (declared: readonly GraphNotes[] = []) =>
    createServerCatalog({ client, patient: client, clock: systemClock, connectMs: 5_000, declared });

  it("have the server's schemas, and no commands that nobody declares", async () => {
    const sentinel = await catalogOf().getAgent("langgraph:sentinel");
    expect(sentinel).toMatchObject({ graphName: "sentinel", commands: [] });
    expect(sentinel?.hasScript).toBeUndefined();
  });

  it("have the commands, name and suggestions that the operator declares", async () => {
    const notes = { graphName: "chat", name: "Desk", commands: ["sync", "fire"], suggestions: ["Hello?"] };
    const chat = await catalogOf([notes]).getAgent("langgraph:chat");
    expect(chat).toMatchObject({ name: "Desk", commands: ["sync", "fire"], suggestions: ["Hello?"] });
    expect(chat?.capabilities).toContain("commands");
    expect(await catalogOf([notes]).getAgent("langgraph:poet")).toMatchObject({ commands: [] });
  });

  it("accept the configuration that the operator declares, where the server publishes no context schema", async () => {
    const poet = await catalogOf([{ graphName: "poet", contextKeys: ["model"] }]).getAgent("langgraph:poet");
    expect(poet?.contextSchema).toMatchObject({ properties: { model: {} } });
    expect((await catalogOf().getAgent("langgraph:poet"))?.contextSchema).toEqual({
      type: "object",
      properties: {},
    });
  });

  it("have what their assistant's metadata says, where it can be read and nobody declares otherwise", async () => {
    const [assistant] = await client.assistants.search({ graphId: "poet" });
    const subgraphs = { verse: { messages: "lines", output: ["poem"] } };
    const metadata = { throughline: { commands: ["sync"], suggestions: 7, name: "Bard", subgraphs } };
    await client.assistants.update(String(assistant?.assistant_id), { metadata });
    expect(await catalogOf().getAgent("langgraph:poet")).toMatchObject({
      commands: ["sync"],
      name: "Bard",
      subgraphs,
    });
    const declared = [{ graphName: "poet", commands: ["fire"], subgraphs: { verse: { output: ["rhyme"] } } }];
    expect(await catalogOf(declared).getAgent("langgraph:poet")).toMatchObject({
      commands: ["fire"],
      subgraphs: { verse: { output: ["rhyme"] } },
    });
  });
});

interface Described {
  readonly schemas: object;
  /** Ids of the nodes that the graph is drawn with. */
  readonly drawn: readonly string[];
}

/** A server of graphs that are described in this way, and what its operator is told. */
async function catalogOfGraphs(graphs: Readonly<Record<string, Described>>) {
  const assistants = Object.keys(graphs).map((graph_id) => ({
    assistant_id: encodeURIComponent(graph_id),
    graph_id,
    name: graph_id,
    metadata: { created_by: "system" },
  }));
  const server = createServer((request, response) => {
    const [, , id = "", part] = new URL(request.url ?? "", "http://any").pathname.split("/");
    const { schemas, drawn = [] } = graphs[decodeURIComponent(id)] ?? {};
    const graph = { nodes: drawn.map((node) => ({ id: node })), edges: [] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ schemas, graph }[part ?? ""] ?? assistants));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  const address = server.address();
  const warnings: string[] = [];
  const catalog = createLangGraphServerAdapter({
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    warn: (message) => warnings.push(message),
  });
  return { catalog, warnings };
}

it("A server's graph whose name no agent can have is reported once, and a declared context is described", async () => {
  const context_schema = { type: "object", properties: { model: { type: "string" } } };
  const described = { schemas: { context_schema }, drawn: ["0", "1", "2"] };
  const { catalog, warnings } = await catalogOfGraphs({ "reactAgent.v2": described, "my graph": described });
  await catalog.listAgents();
  expect(await catalog.listAgents()).toMatchObject([
    { graphId: "langgraph:reactAgent.v2", contextSchema: context_schema },
  ]);
  expect(warnings).toEqual([expect.stringContaining('graph "my graph" is not served')]);
});

it("A server's graph without an output schema shows its messages and is reported once, a function all it returns", async () => {
  const { catalog, warnings } = await catalogOfGraphs({
    judge: { schemas: { state_schema: { properties: { messages: {} } } }, drawn: ["__start__", "write"] },
    essay: { schemas: { state_schema: { properties: { topic: {} } } }, drawn: ["0", "1", "2"] },
  });
  const output = { judge: { type: "object", properties: { messages: {} } }, essay: { type: "object" } };
  for (let times = 0; times < 2; times++) {
    const listed = await catalog.listAgents();
    expect(Object.fromEntries(listed.map((each) => [each.graphName, each.outputSchema]))).toEqual(output);
  }
  expect(warnings).toEqual([expect.stringContaining('which keys of the graph "judge" are its output')]);
});
