import { type GraphSource, graphRegistry } from "@throughline/graph-executor";
import { createWorkshop, type WorkshopOptions } from "./workshop.js";

const conversation = { type: "object", properties: { messages: { type: "array" } } };

/** The workshop alone, as a server runs it. */
export function workshopGraphs(options: WorkshopOptions): GraphSource {
  return graphRegistry([
    {
      descriptor: {
        graphId: "langgraph:workshop",
        graphName: "workshop",
        name: "Workshop",
        description: "Builds a door with everything a takeover can get wrong.",
        capabilities: ["chat", "tools", "interrupts", "subgraphs"],
        commands: [],
        inputSchema: conversation,
        outputSchema: {
          ...conversation,
          properties: { ...conversation.properties, answers: { type: "array" } },
        },
      },
      create: () => createWorkshop(options),
    },
  ]);
}
