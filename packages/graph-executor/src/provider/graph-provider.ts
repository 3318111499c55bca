import type {
  AgentCatalogPort,
  ForeignRunsPort,
  GraphExecutorPort,
  GraphStatePort,
} from "@throughline/ai-core";

/** Everything one backend can do for the graphs it holds: run them, read what they left, and say what they are. */
export interface GraphProvider extends GraphExecutorPort, GraphStatePort, AgentCatalogPort {
  /** `langgraph` for every LangGraph backend: STABLE_GRAPH_IDS makes them interchangeable. */
  readonly providerId: string;
  /** Where others may run graphs too. */
  readonly foreignRuns?: ForeignRunsPort;
}
