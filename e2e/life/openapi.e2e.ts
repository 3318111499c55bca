import type { OpenApiDocument } from "@throughline/langgraph-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  askAsDocumented,
  NEVER_GOOD,
} from "../../packages/langgraph-server/src/testing/ask-as-documented.js";
import { listOperations } from "../../packages/langgraph-server/src/testing/documented-request.js";
import { type RigPostgres, startPostgres } from "../server/rig/start-postgres.js";
import { type RigServer, startServer } from "../server/rig/start-server.js";
import { SEED, trialsOr } from "../server/rig/trials.js";

/** Of requests as documented, to each operation; half as many more are not. */
const REQUESTS_EACH = trialsOr(50);

let postgres: RigPostgres;
let server: RigServer;
beforeAll(async () => {
  postgres = await startPostgres();
  server = await startServer({
    databaseUrl: await postgres.createDatabase(),
    // Requests that are refused for their number would hide what lies behind.
    env: { THROUGHLINE_MAX_CONCURRENT_RUNS: "100000", THROUGHLINE_MAX_WATCHERS: "100000" },
  });
});
afterAll(async () => {
  await server?.stop();
  await postgres?.stop();
});

describe("Every operation of /openapi.json", () => {
  it("answers as documented, whether or not a request is", async () => {
    // A parsed boundary: our own answer.
    const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApiDocument;
    const withoutGood: string[] = [];
    for (const listed of listOperations({ document })) {
      const trial = { url: server.url, document, listed, runs: REQUESTS_EACH, seed: SEED };
      const seen = await askAsDocumented(trial).catch((error: unknown) => {
        throw new Error(`${error}\nThe service printed:\n${server.log().slice(-4_000)}`, { cause: error });
      });
      if (![...seen].some((status) => status < 300)) withoutGood.push(listed.operation.operationId);
    }
    if (REQUESTS_EACH >= 50) expect(withoutGood.sort()).toEqual(NEVER_GOOD);
  }, 1_200_000);
});
