import { fileURLToPath } from "node:url";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { beforeAll, describe, expect, it } from "vitest";
import { openThread, userMessage } from "../behaviour/thread-session.js";
import { createInProcProvider } from "../inproc/provider.js";
import type { GraphProvider } from "../provider.js";
import { loadProjectGraphs } from "./project-graphs.js";

const PROJECT = fileURLToPath(new URL("../../fixtures/stock-agents/langgraph.json", import.meta.url));

describe("Agents of langchain and deepagents", () => {
  let provider: GraphProvider;

  beforeAll(async () => {
    provider = createInProcProvider({
      graphs: await loadProjectGraphs(PROJECT),
      checkpointer: new MemorySaver(),
    });
  });

  it("are described with every key that they give and take, and none that is private", async () => {
    const keysOf = (schema: object = {}) => Object.keys(Object(Reflect.get(schema, "properties"))).sort();
    const agents = await provider.listAgents();
    const described = agents.map(({ graphName, inputSchema, outputSchema }) => [
      graphName,
      keysOf(inputSchema),
      keysOf(outputSchema),
    ]);
    expect(described).toEqual([
      ["deep", ["files", "messages"], ["files", "messages", "structuredResponse"]],
      ["todo", ["messages", "todos"], ["messages", "structuredResponse", "todos"]],
      ["structured", ["messages"], ["messages", "structuredResponse"]],
    ]);
  });

  it("take files that a client sends, and keep those they wrote", async () => {
    const { final } = await openThread(provider, "deep").run({
      kind: "input",
      messages: [userMessage("Write the report")],
      state: { files: { "/sent.md": { content: ["Sent."], created_at: "1", modified_at: "1" } } },
    });
    expect(Object.keys(Object(final.state?.files))).toEqual(["/sent.md", "/report.md"]);
  });

  it("give a structured response, which no checkpoint holds, with the run's end", async () => {
    const { final } = await openThread(provider, "structured").say("How warm is it?");
    expect(final).toMatchObject({ status: "success", state: { structuredResponse: { degrees: 21 } } });
  });
});
