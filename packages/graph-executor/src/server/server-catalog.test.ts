import { Client } from "@langchain/langgraph-sdk";
import { systemClock } from "@throughline/ai-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GraphNotes } from "../graphs/describe-graph.js";
import { createServerCatalog } from "./server-catalog.js";
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

  it("have what their assistant's metadata says, where it can be read and nobody declares otherwise", async () => {
    const [assistant] = await client.assistants.search({ graphId: "poet" });
    const metadata = { throughline: { commands: ["sync"], suggestions: 7, name: "Bard" } };
    await client.assistants.update(String(assistant?.assistant_id), { metadata });
    expect(await catalogOf().getAgent("langgraph:poet")).toMatchObject({ commands: ["sync"], name: "Bard" });
    const declared = [{ graphName: "poet", commands: ["fire"] }];
    expect(await catalogOf(declared).getAgent("langgraph:poet")).toMatchObject({ commands: ["fire"] });
  });
});
