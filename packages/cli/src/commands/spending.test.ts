import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { madeCall } from "../../../langgraph-server/src/testing/made-call.js";
import { startTestServer, type TestServer } from "../../../langgraph-server/src/testing/test-server.js";
import { runThroughline } from "../testing/run-throughline.js";

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

describe("throughline usage unbilled", () => {
  it("lists runs whose calls LiteLLM's log has not shown", async () => {
    const run = { account: "owing", subject: "ann", threadId: "t", graphId: "langgraph:poet" };
    await server.service.billing.ledger.addUnbilled({ ...run, runId: "run-owing", modelCalls: 2 });
    const { printed } = await throughline("usage", "unbilled", "--account", "owing");
    expect(printed).toMatch(/\n\S+Z +awaited +2 +2 +poet +ann +run-owing\n$/);
    const json = await throughline("usage", "unbilled", "--account", "owing", "--json");
    expect(JSON.parse(json.printed)).toMatchObject([{ runId: "run-owing", missing: 2 }]);
    expect((await throughline("usage", "unbilled", "--account", "nobody")).said).toBe(
      "LiteLLM's log has shown every call.",
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
