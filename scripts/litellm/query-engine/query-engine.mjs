#!/usr/bin/env node
// Stands in for Prisma's native query engine, which no package registry has: the engine of the same commit, as WebAssembly,
// behind the HTTP interface that Prisma's Python client starts. Runs where its packages were installed. Not faithful: what
// the loss of PostgreSQL looks like to LiteLLM.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindAdapter } from "@prisma/driver-adapter-utils";
import pg from "pg";
import { createTranslator } from "./translate-query.mjs";

const COMMIT = "393aa359c9ad4a4bb28630fb5613f9c281cde053";
const PARENT_CHECK_MS = 200;

if (process.argv.includes("--version")) {
  console.log(`query-engine ${COMMIT}`);
  process.exit(0);
}
const port = Number(process.argv[process.argv.indexOf("-p") + 1]);
// Prisma's command takes this program for its schema engine too, which it is not.
if (!Number.isInteger(port)) process.exit(1);

// A killed LiteLLM can't end it.
const parent = process.ppid;
setInterval(() => process.ppid !== parent && process.exit(0), PARENT_CHECK_MS).unref();

const schema = readFileSync(process.env.PRISMA_DML_PATH, "utf8");
const { toEngine, fromEngine } = createTranslator(schema);
const engine = createEngine(schema);
const connected = engine.connect("{}");

createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const answer = await answerTo(request, body).catch((error) => ({
    errors: [
      {
        error: String(error),
        user_facing_error: { is_panic: false, message: String(error), error_code: "P1000" },
      },
    ],
  }));
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(answer));
}).listen(port, "localhost");

async function answerTo({ url, headers }, body) {
  await connected;
  if (url === "/status") return { status: "ok" };
  if (url.startsWith("/metrics")) return { counters: [], gauges: [], histograms: [] };
  const [, resource, id, ending] = url.split("/");
  if (resource === "transaction" && id === "start") {
    const { max_wait = 2_000, timeout = 5_000, isolation_level } = JSON.parse(body);
    return JSON.parse(
      await engine.startTransaction(JSON.stringify({ max_wait, timeout, isolation_level }), "{}"),
    );
  }
  if (resource === "transaction") {
    if (ending === "commit") await engine.commitTransaction(id, "{}");
    else await engine.rollbackTransaction(id, "{}");
    return {};
  }
  const { query, batch, transaction } = JSON.parse(body);
  const ask = async (asked) =>
    JSON.parse(await engine.query(JSON.stringify(asked), "{}", headers["x-transaction-id"]));
  if (!batch) return fromEngine(await ask(toEngine(query)));
  const answer = await ask({
    batch: batch.map((one) => toEngine(one.query)),
    ...(transaction && { transaction: {} }),
  });
  return answer.batchResult ? { batchResult: answer.batchResult.map(fromEngine) } : answer;
}

function createEngine(datamodel) {
  const require = createRequire(import.meta.url);
  const runtime = dirname(require.resolve("@prisma/client/runtime/library.js"));
  const glue = require(join(runtime, "query_engine_bg.postgresql.js"));
  const code = new WebAssembly.Module(readFileSync(join(runtime, "query_engine_bg.postgresql.wasm")));
  glue.__wbg_set_wasm(new WebAssembly.Instance(code, { "./query_engine_bg.js": glue }).exports);
  const [overwritten] = JSON.parse(process.env.OVERWRITE_DATASOURCES ?? "[]");
  const connectionString = overwritten?.url ?? process.env.DATABASE_URL;
  const settings = {
    datamodel,
    logLevel: "error",
    logQueries: false,
    engineProtocol: "json",
    configDir: ".",
    env: { DATABASE_URL: connectionString },
    ignoreEnvVarErrors: true,
    datasourceOverrides: {},
  };
  const adapter = bindAdapter(new PrismaPg(new pg.Pool({ connectionString, max: 10 })));
  return new glue.QueryEngine(settings, () => {}, adapter);
}
