import { graphRegistry } from "@throughline/graph-executor";
import { createHandler, createService, customCaller, type Handler } from "@throughline/langgraph-server";
import { graph } from "./graph";

const messages = { type: "object", properties: { messages: {} } };

async function open(): Promise<Handler> {
  const descriptor = {
    graphId: "langgraph:echo",
    graphName: "echo",
    name: "Echo",
    description: "Says back what it hears.",
    capabilities: [],
    commands: [],
    inputSchema: messages,
    outputSchema: messages,
    subgraphSchemas: {},
  };
  const service = await createService({
    // `{ kind: "postgres", databaseUrl }` keeps threads, and lets several instances serve them.
    store: { kind: "memory" },
    graphs: graphRegistry([{ descriptor, create: () => graph }]),
  });
  // Your own sign-in goes here: read the session from `headers`, return `undefined` for who is not signed in.
  const caller = customCaller(() => ({ billingAccountId: "demo", virtualKeyId: "demo" }));
  return createHandler({ service, caller });
}

/** Next.js evaluates modules more than once; the service is opened once a process. */
const kept = globalThis as { throughline?: Promise<Handler> };

export function throughline(): Promise<Handler> {
  kept.throughline ??= open();
  return kept.throughline;
}
