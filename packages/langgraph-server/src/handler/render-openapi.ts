import { graphRegistry } from "@throughline/graph-executor";
import { createService } from "../service/create-service.js";
import { devCaller } from "../tenancy/dev-caller.js";
import { createHandler } from "./create-handler.js";

/** What `GET /openapi.json` answers, kept in `docs/` for readers without a server. */
export async function renderOpenApi(): Promise<string> {
  const service = await createService({ store: { kind: "memory" }, graphs: graphRegistry([]) });
  const handler = createHandler({ service, caller: devCaller() });
  try {
    const answer = await handler.fetch(new Request("http://localhost/openapi.json"));
    return `${JSON.stringify(await answer.json(), null, 2)}\n`;
  } finally {
    handler.close();
    await service.close({ drainMs: 0 });
  }
}
