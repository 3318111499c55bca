import { fileURLToPath } from "node:url";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph-checkpoint";
import { BEHAVIOUR_PROJECT, runExecutorBehaviour } from "../behaviour/executor-behaviour.js";
import { loadProjectGraphs } from "../graphs/project-graphs.js";
import { createInProcProvider } from "./provider.js";

runExecutorBehaviour("The in-process provider", async () => ({
  provider: createInProcProvider({
    graphs: await loadProjectGraphs(fileURLToPath(BEHAVIOUR_PROJECT)),
    checkpointer: new MemorySaver(),
    store: new InMemoryStore(),
  }),
}));
