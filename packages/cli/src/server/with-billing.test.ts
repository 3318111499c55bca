import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createPostgresKeyStore,
  createPostgresLedgerStore,
  type KeyStore,
  type LedgerStore,
  parseKeyRing,
  storedKeys,
} from "@throughline/billing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { madeCall } from "../../../langgraph-server/src/testing/made-call.js";
import { openPostgres, type PostgresDatabase } from "../../../langgraph-server/src/testing/test-database.js";
import { openTestPostgres, type TestPostgres } from "../../../langgraph-server/src/testing/test-postgres.js";
import { runThroughline } from "../testing/run-throughline.js";

const SECRETS = ["a", "b"].map((id) => `${id}:${Buffer.alloc(32, id).toString("base64")}`);
const [FIRST = "", SECOND = ""] = SECRETS;
const TOKEN = "sk-the-token-that-nothing-repeats";

let postgres: TestPostgres;
let database: PostgresDatabase;
let stores: { readonly ledger: LedgerStore; readonly virtualKeys: KeyStore };
let folder: string;
beforeAll(async () => {
  postgres = await openTestPostgres();
  folder = mkdtempSync(join(tmpdir(), "throughline-usage-"));
  // The first command makes the tables.
  expect((await throughline(["usage", "unclaimed"])).said).toContain("of a call of ours");
  database = await openPostgres({ connection: postgres.url });
  stores = { ledger: createPostgresLedgerStore(database), virtualKeys: createPostgresKeyStore(database) };
});
afterAll(async () => {
  await database.close();
  await postgres.close();
  rmSync(folder, { recursive: true, force: true });
});

function throughline(
  argv: readonly string[],
  { env = {}, lines = [] }: { env?: Readonly<Record<string, string>>; lines?: readonly string[] } = {},
) {
  return runThroughline(argv, { env: { LANGGRAPH_DATABASE_URL: postgres.url, ...env }, lines });
}

/** As LiteLLM's logger writes it. */
function logLine(callId: string, spend: number): string {
  const labels = { call_id: callId, unit_id: callId, request_id: "chatcmpl-1", key_hash: "hash-of-the-key" };
  const used = { spend, input_tokens: 11, output_tokens: 3, cache_hit: false };
  const rest = { status: "success", error_code: null, model_group: "cheap", ended_at: 1_794_905_242 };
  return `${JSON.stringify({ v: 1, ...labels, ...used, ...rest })}\n`;
}

describe("throughline usage, for operators,", () => {
  it("prices calls in doubt from LiteLLM's log, once, and lists rows that no call claims", async () => {
    const log = join(folder, "spend.jsonl");
    const env = {
      LITELLM_BASE_URL: "http://127.0.0.1:9",
      LITELLM_API_KEY: "sk-service",
      THROUGHLINE_SPEND_LOG: log,
    };
    const unitId = await madeCall(stores.ledger, { account: "acme" });
    writeFileSync(log, logLine(unitId, 1.7e-5));
    const first = await throughline(["usage", "reconcile"], { env });
    expect([first.code, first.said]).toEqual([0, ""]);
    expect(first.printed).toMatch(/\n {2}rows read +1\n {2}charged +1\n/);
    expect(await stores.ledger.find([unitId])).toMatchObject([{ state: "settled", billed: 17_000_000n }]);

    appendFileSync(log, logLine("11111111-1111-4111-8111-111111111111", 0.5));
    const again = await throughline(["usage", "reconcile", "--json"], { env });
    expect(JSON.parse(again.printed)).toMatchObject([{ facts: 1, charged: 0, unclaimed: 1 }]);
    const { printed } = await throughline(["usage", "unclaimed"]);
    expect(printed).toMatch(
      /\n\S+Z +hash-of-the- +cheap +0\.5 +11 +3 +11111111-1111-4111-8111-111111111111\n$/,
    );
    const json = await throughline(["usage", "unclaimed", "--json"]);
    expect(JSON.parse(json.printed)).toMatchObject([{ cost: "0.5", modelGroup: "cheap" }]);
  });

  it("says that there is nothing to reconcile with where no LiteLLM is configured", async () => {
    const { code, said } = await throughline(["usage", "reconcile"]);
    expect([code, said]).toEqual([0, expect.stringContaining("Set LITELLM_BASE_URL.")]);
  });
});

describe("throughline keys", () => {
  const importing = ["keys", "import", "key-1", "--account", "acme"];

  it("imports a token from its input, sealed, repeats it nowhere, and reseals it with a new secret", async () => {
    const env = { THROUGHLINE_KEY_SECRETS: FIRST };
    const { code, printed, said } = await throughline(importing, { env, lines: [TOKEN] });
    expect([code, printed, said]).toEqual([0, "Stored: calls of acme that name key-1 use it.\n", ""]);
    expect((await stores.virtualKeys.find("acme", "key-1"))?.sealed).not.toContain(TOKEN);
    const keysOf = (secret: string) => storedKeys(stores.virtualKeys, parseKeyRing(secret));
    await expect(keysOf(FIRST).resolveKey("key-1", "acme")).resolves.toBe(TOKEN);
    await expect(keysOf(FIRST).resolveKey("key-1", "other")).rejects.toThrow();
    const rotated = { THROUGHLINE_KEY_SECRETS: `${SECOND},${FIRST}` };
    expect((await throughline(["keys", "reseal"], { env: rotated })).printed).toBe("Resealed 1.\n");
    const again = await throughline(["keys", "reseal", "--json"], { env: rotated });
    expect(JSON.parse(again.printed)).toEqual({ resealed: 0 });
    await expect(keysOf(SECOND).resolveKey("key-1", "acme")).resolves.toBe(TOKEN);
  });

  it.each([
    [[], "Standard input is empty"],
    [[TOKEN, TOKEN], "Standard input is no token"],
  ])("refuses an input of %j without repeating it", async (lines, sentence) => {
    const { code, said } = await throughline(importing, { lines });
    expect([code, said]).toEqual([2, expect.stringContaining(sentence)]);
    expect(said).not.toContain(TOKEN);
  });

  it("takes a token neither as an argument nor without a secret to seal it with", async () => {
    const argument = await throughline(["keys", "import", "key-1", TOKEN, "--account", "acme"]);
    expect([argument.code, argument.said]).toEqual([2, expect.stringContaining("from standard input")]);
    expect(argument.said).not.toContain(TOKEN);
    const unsealed = await throughline(["keys", "reseal"]);
    expect([unsealed.code, unsealed.said]).toEqual([
      2,
      expect.stringContaining("Set THROUGHLINE_KEY_SECRETS"),
    ]);
    const env = { THROUGHLINE_KEY_SECRETS: "not a secret" };
    const unreadable = await throughline(["keys", "reseal"], { env });
    expect([unreadable.code, unreadable.said]).toEqual([2, expect.stringContaining("ID:SECRET")]);
    expect(unreadable.said).not.toContain("not a secret");
  });
});
