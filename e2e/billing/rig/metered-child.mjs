// @ts-check
// Makes metered calls of a run, several at once, until it is done or killed:
// node metered-child.mjs '{"databaseUrl","litellmUrl","run","token","calls":[{"prompt","stream"}]}'
import { createMeteredFetch, createPostgresLedgerStore, withMeteredRun } from "@throughline/billing";
import { openPostgres } from "@throughline/thread-log";

const { databaseUrl, litellmUrl, run, token, calls } = JSON.parse(process.argv[2] ?? "{}");
const AT_ONCE = 3;

const database = await openPostgres({ connection: databaseUrl, maxConnections: 3 });
const meteredFetch = createMeteredFetch({
  baseUrl: litellmUrl,
  ledger: createPostgresLedgerStore(database),
  keys: { resolveKey: async () => token },
});

async function work() {
  for (let call = calls.shift(); call; call = calls.shift()) {
    try {
      const response = await meteredFetch(`${litellmUrl}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          model: "cheap",
          messages: [{ role: "user", content: call.prompt }],
          stream: call.stream,
        }),
      });
      await response.text();
    } catch {
      // What fails is told by the ledger.
    }
  }
}

await withMeteredRun(run, () => Promise.all(Array.from({ length: AT_ONCE }, work)));
await database.close();
