import { START, StateGraph } from "@langchain/langgraph";
import { modelContextSchema } from "@throughline/langgraph-models";
import type { GraphDeps, RunnableGraph } from "../graph-definition.js";
import { persistence } from "../persistence.js";
import { createExperiencesAgent } from "./experiences-agent.js";
import { createFlightsAgent } from "./flights-agent.js";
import { createHotelsAgent } from "./hotels-agent.js";
import { createSupervisor, SUPERVISOR_ENDS } from "./supervisor.js";
import { TravelInput, TravelState } from "./travel-state.js";

export function createTravelGraph(deps: GraphDeps): RunnableGraph {
  return new StateGraph({
    state: TravelState,
    input: TravelInput,
    output: TravelState,
    context: modelContextSchema,
  })
    .addNode("supervisor", createSupervisor(deps), { ends: [...SUPERVISOR_ENDS] })
    .addNode("flights_agent", createFlightsAgent())
    .addNode("hotels_agent", createHotelsAgent())
    .addNode("experiences_agent", createExperiencesAgent(deps))
    .addEdge(START, "supervisor")
    .addEdge("flights_agent", "supervisor")
    .addEdge("hotels_agent", "supervisor")
    .addEdge("experiences_agent", "supervisor")
    .compile({ name: "travel", ...persistence(deps) });
}
