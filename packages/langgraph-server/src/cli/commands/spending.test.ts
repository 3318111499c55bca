import {
  createBudgetGuard,
  createMemoryBudgetStore,
  createMemoryFactStore,
  createMemoryKeyStore,
  createMemoryLedgerStore,
  parseKeyRing,
  storedKeys,
} from "@throughline/billing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type CliBilling, openBillingForCli } from "../../billing/open-billing-for-cli.js";
import type { ServiceBilling } from "../../billing/service-billing.js";
import { startTestServer, type TestServer } from "../../handler/testing/test-server.js";
import { madeCall } from "../../testing/made-call.js";
import { runThroughline } from "../../testing/run-throughline.js";

vi.mock("../../billing/open-billing-for-cli.js", { spy: true });

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const throughline = (...argv: readonly string[]) =>
  runThroughline(argv, { env: { THROUGHLINE_URL: server.url } });

describe("throughline usage", () => {
  const account = ["--account", "spender"];
  beforeAll(async () => {
    const { ledger } = server.service.billing;
    for (let call = 0; call < 101; call += 1) {
      await madeCall(ledger, { account: "spender", runId: `run-${call}`, subject: "ann", cost: "0.1" });
    }
    await madeCall(ledger, { account: "spender", subject: "bob", runId: "open" });
  });

  it("shows every group with an exact sum, for people and for programs", async () => {
    const { printed } = await throughline("usage", "--by", "person", ...account);
    const lines = printed.split("\n").map((line) => line.split(/ {2,}/));
    expect(lines).toEqual([
      ["PERSON", "CALLS", "TOKENS IN", "TOKENS OUT", "USD", "NOT PRICED"],
      ["ann", "101", "1010", "505", "10.1"],
      ["bob", "1", "0", "0", "0", "1"],
      ["total", "102", "1010", "505", "10.1", "1"],
      [""],
    ]);
    const byRun = await throughline("usage", "--by", "run", "--json", ...account);
    expect(JSON.parse(byRun.printed)).toHaveLength(102);
    const csv = await throughline("usage", "--by", "run", "--csv", ...account);
    expect(csv.printed.trimEnd().split("\r\n")).toHaveLength(103);
    const one = await throughline("usage", "--by", "person", "--person", "bob", "--json", ...account);
    expect(JSON.parse(one.printed)).toMatchObject([{ key: "bob" }]);
    expect((await throughline("usage", "--from", "2001-01-01", "--to", "2001-01-02", ...account)).said).toBe(
      "No model was called in this time.",
    );
  });

  it("prints a month's statement", async () => {
    const month = new Date().toISOString().slice(0, 7);
    const { printed } = await throughline("usage", "--month", month, ...account);
    expect(printed).toMatch(new RegExp(`^Statement of ${month}, not final\n\nDAY `));
    expect(printed).toMatch(/\nAGENT .*\nlanggraph:poet +102 /);
    const json = await throughline("usage", "--month", month, "--json", ...account);
    expect(JSON.parse(json.printed)).toMatchObject({ total: { cost: "10.1" } });
    expect((await throughline("usage", "--month", month, "--csv", ...account)).printed).toContain(
      "\r\ntotal,,102,",
    );
    expect(await throughline("usage", "--month", "november", ...account)).toMatchObject({
      code: 1,
      said: expect.stringContaining("must be as 2026-11"),
    });
  });

  it("lists calls without a price", async () => {
    const { printed } = await throughline("usage", "unresolved", ...account);
    expect(printed).toMatch(/\n\S+Z +in_doubt +- +poet +cheap +bob +open +[0-9a-f-]{36}\n$/);
    expect((await throughline("usage", "unresolved", "--account", "nobody")).said).toBe(
      "Every call has its price.",
    );
  });
});

describe("throughline budgets", () => {
  const account = ["--account", "saver"];

  it("sets, lists and removes them, and says how much is spent", async () => {
    await madeCall(server.service.billing.ledger, { account: "saver", subject: "ann", cost: "4" });
    expect((await throughline("budgets", ...account)).said).toContain("No budgets.");
    const set = await throughline(
      "budgets",
      "set",
      "--day",
      "5",
      "--month",
      "100",
      "--soft",
      "80",
      ...account,
    );
    expect(set.printed).toMatch(/\naccount +5 USD +100 USD +80 %\n$/);
    await throughline("budgets", "set", "--month", "2.50", "--person", "ann", ...account);
    expect((await throughline("budgets", ...account)).printed).toMatch(/\nann +- +2\.5 USD +-\n$/);
    expect((await throughline("budgets", "me", ...account)).printed).toMatch(
      /\naccount +day +4 of 5 USD +80 % +near +\S+Z\naccount +month +4 of 100 USD +4 % +within +\S+Z\n$/,
    );
    expect((await throughline("budgets", "me", "--subject", "ann", ...account)).printed).toMatch(
      /\nperson +month +4 of 2\.5 USD +160 % +exceeded /,
    );
    expect((await throughline("budgets", "remove", "--person", "ann", ...account)).printed).toBe(
      "Removed.\n",
    );
    const left = await throughline("budgets", "--json", ...account);
    expect(JSON.parse(left.printed)).toMatchObject([{ subject: null, day: "5" }]);
    const refused = await throughline("budgets", "set", "--day", "9", "--subject", "ann", ...account);
    expect(refused).toMatchObject({ code: 1, said: expect.stringContaining("may not set budgets") });
  });
});

/** What the command opens, and whether it closed it. */
function opened(billing: Partial<ServiceBilling>, keys?: CliBilling["keys"]) {
  const ledger = createMemoryLedgerStore();
  const budgets = createMemoryBudgetStore();
  const close = vi.fn(async () => {});
  vi.mocked(openBillingForCli).mockImplementation(async () => ({
    billing: {
      ledger,
      budgets,
      facts: createMemoryFactStore(),
      guard: createBudgetGuard({ ledger, budgets }),
      modelsOf: async () => ({ models: [], loadedAt: 0, isStale: false }),
      reconcile: async () => [],
      ...billing,
    },
    ...(keys && { keys }),
    close,
  }));
  return { close };
}

const SECRETS = ["a", "b"].map((id) => `${id}:${Buffer.alloc(32, id).toString("base64")}`);

describe("throughline usage, for operators,", () => {
  it("reconciles once and says what became of it, with the settings of serve", async () => {
    const report = {
      facts: 9,
      charged: 3,
      corrected: 1,
      unresolved: 2,
      writtenOff: 0,
      estimated: 0,
      unclaimed: 4,
    };
    const { close } = opened({ reconcile: async () => [report] });
    const { code, printed } = await runThroughline([
      "usage",
      "reconcile",
      "--database-url",
      "postgres://db/x",
    ]);
    expect([code, vi.mocked(openBillingForCli).mock.lastCall?.[0].databaseUrl]).toEqual([
      0,
      "postgres://db/x",
    ]);
    expect(printed).toMatch(/\n {2}charged +3\n {2}corrected +1\n {2}unresolved +2\n/);
    expect(close).toHaveBeenCalledOnce();
    const json = await runThroughline(["usage", "reconcile", "--json"]);
    expect(JSON.parse(json.printed)).toEqual([report]);
    opened({});
    expect((await runThroughline(["usage", "reconcile"])).said).toContain("Set LITELLM_BASE_URL.");
  });

  it("closes what it opened when LiteLLM can't be read", async () => {
    const { close } = opened({ reconcile: () => Promise.reject(new Error("LiteLLM is away.")) });
    expect(await runThroughline(["usage", "reconcile"])).toMatchObject({ code: 1, said: "LiteLLM is away." });
    expect(close).toHaveBeenCalledOnce();
  });

  it("lists rows of LiteLLM's log that no call claims", async () => {
    const facts = createMemoryFactStore();
    const fact = {
      callId: "call-1",
      requestId: "chatcmpl-1",
      status: "success",
      unitId: null,
      keyHash: "0123456789abcdef",
      spend: 17_000_000n,
      inputTokens: 11,
      outputTokens: 3,
      isCacheHit: false,
      errorCode: null,
      modelGroup: "cheap",
      endedAt: 0,
    } as const;
    await facts.add("spend_log", [
      { fact, isClaimed: false },
      { fact: { ...fact, callId: "ours" }, isClaimed: true },
    ]);
    opened({ facts });
    const { printed } = await runThroughline(["usage", "unclaimed"]);
    expect(printed).toMatch(/\n1970-01-01T00:00:00.000Z +0123456789ab +cheap +0.000017 +11 +3 +call-1\n$/);
    const json = await runThroughline(["usage", "unclaimed", "--json"]);
    expect(JSON.parse(json.printed)).toMatchObject([{ callId: "call-1", cost: "0.000017" }]);
    opened({});
    expect((await runThroughline(["usage", "unclaimed"])).said).toContain("of a call of ours");
  });
});

describe("throughline keys", () => {
  const TOKEN = "sk-the-token-that-nothing-repeats";

  it("imports a token from its input, sealed, and repeats it nowhere", async () => {
    const keys = { store: createMemoryKeyStore(), ring: parseKeyRing(SECRETS[0] ?? "") };
    opened({}, keys);
    const argv = ["keys", "import", "key-1", "--account", "acme"];
    const { code, printed, said } = await runThroughline(argv, { lines: [TOKEN] });
    expect([code, printed]).toEqual([0, "Stored: calls of acme that name key-1 use it.\n"]);
    expect(printed + said).not.toContain(TOKEN);
    expect((await keys.store.find("acme", "key-1"))?.sealed).not.toContain(TOKEN);
    await expect(storedKeys(keys.store, keys.ring).resolveKey("key-1", "acme")).resolves.toBe(TOKEN);
    await expect(storedKeys(keys.store, keys.ring).resolveKey("key-1", "other")).rejects.toThrow();
  });

  it.each([
    [[], "Standard input is empty"],
    [[TOKEN, TOKEN], "Standard input is no token"],
  ])("refuses an input of %j without repeating it", async (lines, sentence) => {
    const { code, said } = await runThroughline(["keys", "import", "key-1", "--account", "acme"], { lines });
    expect([code, said]).toEqual([2, expect.stringContaining(sentence)]);
    expect(said).not.toContain(TOKEN);
  });

  it("takes a token neither as an argument nor without a secret to seal it with", async () => {
    const argument = await runThroughline(["keys", "import", "key-1", TOKEN, "--account", "acme"]);
    expect([argument.code, argument.said]).toEqual([2, expect.stringContaining("from standard input")]);
    expect(argument.said).not.toContain(TOKEN);
    opened({});
    const unsealed = await runThroughline(["keys", "reseal"]);
    expect(unsealed).toMatchObject({ code: 2, said: expect.stringContaining("No secret to seal keys with") });
  });

  it("reseals with the first secret what was sealed with another", async () => {
    const store = createMemoryKeyStore();
    opened({}, { store, ring: parseKeyRing(SECRETS[0] ?? "") });
    await runThroughline(["keys", "import", "key-1", "--account", "acme"], { lines: [TOKEN] });
    opened({}, { store, ring: parseKeyRing(SECRETS.toReversed().join(",")) });
    expect((await runThroughline(["keys", "reseal"])).printed).toBe("Resealed 1.\n");
    expect(JSON.parse((await runThroughline(["keys", "reseal", "--json"])).printed)).toEqual({ resealed: 0 });
    const onlyNew = parseKeyRing(SECRETS[1] ?? "");
    await expect(storedKeys(store, onlyNew).resolveKey("key-1", "acme")).resolves.toBe(TOKEN);
  });
});
