// The service as `serve` starts it, but that it lets go of a thread the moment its last viewer leaves: a viewer that comes back
// finds an instance that holds nothing of the thread in memory.
import { join } from "node:path";
import { loadProjectGraphs } from "@throughline/graph-executor";
import { createLogger, readConfig, startServer } from "@throughline/langgraph-server";
import { answerParent } from "./answer-parent.mjs";

const graphs = await loadProjectGraphs(join(import.meta.dirname, "langgraph.json"));
const server = await startServer(readConfig(process.env), {
  logger: createLogger({ level: "silent" }),
  service: { lingerMs: 0, graphs },
});

answerParent({ url: () => server.url });
