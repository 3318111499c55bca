// The whole service as people start it, with graphs of the bench's own.
import { graphRegistry } from "@throughline/graph-executor";
import { createLogger, readConfig, startServer } from "@throughline/langgraph-server";
import { createTypist } from "../executor/typist.mjs";
import { answerParent } from "./answer-parent.mjs";
import { createScribe } from "./scribe.mjs";

const config = readConfig({ LANGGRAPH_DATABASE_URL: process.env.BENCH_DATABASE_URL });
const server = await startServer(
  {
    ...config,
    port: 0,
    // Everybody is one account here; what is measured is not how it is held back.
    limits: {
      ...config.limits,
      maxConcurrentRuns: 1_000,
      maxWatchers: 20_000,
      maxStartsPerMinute: 1_000_000,
      maxBodyBytesPerMinute: 1_000_000_000,
    },
  },
  {
    logger: createLogger({ level: "silent" }),
    service: {
      ...(process.env.BENCH_LINGER_MS !== undefined && { lingerMs: Number(process.env.BENCH_LINGER_MS) }),
      graphs: graphRegistry([
        registered("typist", ["tokens", "firstMs", "paceMs", "paragraph"], createTypist),
        registered("scribe", ["notes"], createScribe),
      ]),
    },
  },
);

answerParent({ url: () => server.url });

function registered(graphName, inputs, create) {
  const schema = (keys) => ({ type: "object", properties: Object.fromEntries(keys.map((key) => [key, {}])) });
  return {
    descriptor: {
      graphId: `langgraph:${graphName}`,
      graphName,
      name: graphName,
      description: "",
      capabilities: ["chat"],
      commands: [],
      inputSchema: schema(["messages", ...inputs]),
      outputSchema: schema(["messages"]),
      subgraphSchemas: {},
    },
    create: () => create(),
  };
}
