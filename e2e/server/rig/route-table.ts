import { graphRegistry } from "@throughline/graph-executor";
import { createHandler, createService, devCaller, type Handler } from "@throughline/langgraph-server";

/** All routes, from the handler itself: one added tomorrow is tested tomorrow. */
export async function tableOfRoutes(): Promise<Handler["routes"]> {
  const service = await createService({ store: { kind: "memory" }, graphs: graphRegistry([]) });
  const handler = createHandler({ service, caller: devCaller() });
  handler.close();
  await service.close({ drainMs: 0 });
  return handler.routes;
}
