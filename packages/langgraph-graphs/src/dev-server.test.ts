import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { LANGGRAPH_CATALOG } from "./catalog.js";
import { travelDefinition } from "./travel/graph.js";

const names = LANGGRAPH_CATALOG.map((definition) => definition.graphName);
const config = { configurable: { offline: { paceMs: 0 } } };
const asking = (content: string) => ({ messages: [{ role: "user", content }] });

let cwd: string;
let server: { readonly url: string; readonly stop: () => Promise<void> };
let client: Client;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "throughline-dev-"));
  const { startLanggraphDev } = await import("../../../scripts/langgraph-dev.mjs");
  server = await startLanggraphDev({ port: 0, quiet: true, cwd, env: { LITELLM_BASE_URL: "" } });
  client = new Client({ apiUrl: server.url });
}, 60_000);
afterAll(async () => {
  await server?.stop();
  rmSync(cwd, { recursive: true, force: true });
});

/** Runs on a thread to the end and gives the names of the SSE events. */
async function runToEnd(threadId: string, graph: string, payload: Parameters<Client["runs"]["stream"]>[2]) {
  const events = new Set<string>();
  const run = client.runs.stream(threadId, graph, {
    config,
    streamMode: ["messages-tuple", "updates"],
    ...payload,
  });
  for await (const { event, data } of run) {
    expect(event, JSON.stringify(data)).not.toBe("error");
    events.add(event);
  }
  return events;
}

describe("the official dev server", { timeout: 30_000 }, () => {
  it("lists every graph", async () => {
    const assistants = await client.assistants.search({ limit: 100 });
    expect(assistants.map((assistant) => assistant.graph_id).toSorted()).toEqual(names.toSorted());
  });

  it.each(names)("answers the schemas of %s", async (graphName) => {
    const schemas = await client.assistants.getSchemas(graphName);
    const messages = { properties: { messages: {} } };
    expect(schemas.state_schema).toMatchObject(messages);
    expect(schemas.input_schema).toMatchObject(messages);
    expect(schemas.output_schema).toMatchObject(messages);
  });

  /** They ask a person before they end. */
  const askers = ["travel", "approver"];
  it.each(names.filter((name) => !askers.includes(name)))(
    "runs %s and streams its tokens",
    async (graphName) => {
      const { thread_id } = await client.threads.create();
      const events = await runToEnd(thread_id, graphName, { input: asking("What is 2 + 3?") });
      expect(events).toContain("messages");
      const { values, next } = await client.threads.getState(thread_id);
      const definition = LANGGRAPH_CATALOG.find((entry) => entry.graphName === graphName);
      expect(definition?.outputSchema.safeParse(values).error).toBeUndefined();
      expect(next).toEqual([]);
    },
  );

  it("drives a trip over two questions to the chosen flight and hotel", async () => {
    const { thread_id } = await client.threads.create();
    const optionsOf = async (agent: string) => {
      const { tasks } = await client.threads.getState(thread_id);
      const asked = z.object({ agent: z.literal(agent), options: z.array(z.unknown()) });
      return asked.parse(tasks.flatMap((task) => task.interrupts)[0]?.value).options;
    };
    await runToEnd(thread_id, "travel", { input: asking("Plan my trip") });
    const flight = (await optionsOf("flights"))[1];
    await runToEnd(thread_id, "travel", { command: { resume: flight } });
    const hotel = (await optionsOf("hotels"))[0];
    await runToEnd(thread_id, "travel", { command: { resume: hotel } });

    const { values, next } = await client.threads.getState(thread_id);
    expect(next).toEqual([]);
    expect(travelDefinition.outputSchema.safeParse(values).error).toBeUndefined();
    expect(values).toMatchObject({ itinerary: { flight, hotel } });
  });
});
