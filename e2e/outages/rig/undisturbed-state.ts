import { graphRegistry } from "@throughline/graph-executor";
import { describeGraph, LANGGRAPH_CATALOG } from "@throughline/langgraph-graphs";
import { envKeyResolver } from "@throughline/langgraph-models";
import { createHandler, createService, devCaller } from "@throughline/langgraph-server";
import { readEvents } from "../../../packages/langgraph-server/src/testing/sse-events.js";
import { type Ask, comparableState, researcherThread } from "./researcher-thread.js";

/** What a researcher's thread holds after a run that nothing disturbed: on stores in memory, as fast as it goes. */
export async function undisturbedState(): Promise<unknown> {
  const service = await createService({
    store: { kind: "memory" },
    graphs: graphRegistry(
      LANGGRAPH_CATALOG.map((definition) => ({
        descriptor: describeGraph(definition),
        create: () => definition.create({ keys: envKeyResolver({}) }),
      })),
    ),
  });
  const handler = createHandler({ service, caller: devCaller() });
  const ask: Ask = async (path, init) => handler.fetch(new Request(new URL(path, "http://127.0.0.1"), init));
  try {
    const thread = researcherThread("undisturbed");
    await readEvents(await thread.run(ask));
    return comparableState(await thread.state(ask));
  } finally {
    handler.close();
    await service.close({ drainMs: 0 });
  }
}
