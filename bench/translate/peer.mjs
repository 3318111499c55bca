// The peer: the stock @ag-ui/langgraph agent, fed from memory. `run()` is subscribed directly, so only its translation
// is measured, not the client pipeline that would come after it.
import { createRequire } from "node:module";
import { join } from "node:path";
import { ensureStock } from "../../scripts/ensure-stock.mjs";
import { encodedLength } from "./sse-length.mjs";

// As it is published: the workspace's own copy is patched.
const require = createRequire(join(await ensureStock("ag-ui-langgraph"), "package.json"));
const { LangGraphAgent } = require("@ag-ui/langgraph");

/** What it asks a server for, less `messages-tuple`: it makes nothing of that mode but copies of it. */
const READ_BY_PEER = new Set(["metadata", "events", "values", "updates"]);

/**
 * @param {import("./workload.mjs").Workload} workload
 * @param {{ onEvent?: (event: object) => void }} [options]
 */
export function preparePeer(workload, { onEvent } = {}) {
  const chunks = workload.lines.filter(({ event }) => READ_BY_PEER.has(event.split("|")[0]));
  return async () => {
    const agent = new LangGraphAgent({
      deploymentUrl: "http://bench.invalid",
      graphId: "chat",
      client: stubClient(workload, chunks),
    });
    let events = 0;
    let bytes = 0;
    await new Promise((resolve, reject) => {
      agent.run(runInput(workload)).subscribe({
        next: (event) => {
          events++;
          bytes += encodedLength(event);
          onEvent?.(event);
        },
        error: reject,
        complete: resolve,
      });
    });
    return { events, bytes };
  };
}

function runInput({ ids, input }) {
  return {
    ...ids,
    messages: input.map(({ id, content }) => ({ id, role: "user", content })),
    state: {},
    tools: [],
    context: [],
    forwardedProps: {},
  };
}

function stubClient({ ids, final }, chunks) {
  const assistant = { assistant_id: "bench", graph_id: "chat", config: {}, metadata: {} };
  const thread = { thread_id: ids.threadId, status: "idle", metadata: {} };
  const schema = {
    type: "object",
    properties: Object.fromEntries(Object.keys(final.values).map((key) => [key, {}])),
  };
  const ended = { values: final.values, next: [], tasks: [], metadata: {}, checkpoint: {} };
  const before = { values: {}, next: [], tasks: [], metadata: {}, checkpoint: {} };
  let started = false;
  return {
    assistants: {
      search: async () => [assistant],
      get: async () => assistant,
      getGraph: async () => ({
        nodes: ["__start__", "agent", "tools", "__end__"].map((id) => ({ id })),
        edges: [],
      }),
      getSchemas: async () => ({
        input_schema: schema,
        output_schema: schema,
        context_schema: {},
        config_schema: {},
      }),
    },
    threads: {
      get: async () => thread,
      create: async () => thread,
      getState: async () => (started ? ended : before),
      updateState: async () => ({}),
    },
    runs: {
      async *stream() {
        started = true;
        yield* chunks;
      },
    },
  };
}
