import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachStore } from "../../testing/describe-each-store.js";
import { madeCall } from "../../testing/made-call.js";
import { testPerson } from "../../testing/test-person.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";

describeEachStore("Budgets over HTTP, kept in %s,", (storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: storeOf() });
  });
  afterAll(() => server.close());

  function people() {
    const account = `a-${randomUUID()}`;
    const as = (role: string, subject?: string) =>
      testPerson(() => server, {
        "x-throughline-account": account,
        "x-throughline-role": role,
        ...(subject !== undefined && { "x-throughline-subject": subject }),
      });
    const spend = (subject: string, cost: string) =>
      madeCall(server.service.billing.ledger, { account, subject, cost });
    return { account, as, spend };
  }

  it("are set, listed and deleted, the account's and each person's", async () => {
    const { as } = people();
    const admin = as("admin", "adam");
    const ofAccount = { subject: null, day: "0.000000000001", month: "9000000", softPercent: 80 };
    const ofMe = { subject: "me", day: "2.5", month: null, softPercent: null };
    expect(await admin.ask("PUT", "/budgets", { ...ofAccount, subject: undefined })).toEqual({
      status: 200,
      body: ofAccount,
    });
    // A person may be called like the route that reads one's own.
    expect((await admin.ask("PUT", "/budgets/me", { day: "2.50" })).body).toEqual(ofMe);
    await admin.ask("PUT", "/budgets/ann%2Fb", { month: "7" });
    const listed = async () => (await admin.ask("GET", "/budgets")).body.budgets;
    expect(await listed()).toEqual([
      ofAccount,
      { subject: "ann/b", day: null, month: "7", softPercent: null },
      ofMe,
    ]);
    expect((await admin.ask("DELETE", "/budgets")).status).toBe(204);
    expect((await listed()).map(({ subject }: { subject: string }) => subject)).toEqual(["ann/b", "me"]);
    expect((await admin.ask("DELETE", "/budgets/ann%2Fb")).status).toBe(204);
    expect((await admin.ask("DELETE", "/budgets/ann%2Fb")).status).toBe(204);
    expect(await listed()).toEqual([ofMe]);
  });

  it("hold from the next call on", async () => {
    const { account, as, spend } = people();
    const { guard } = server.service.billing;
    await spend("ann", "3");
    await expect(guard.require(account, "ann")).resolves.toMatchObject({ kind: "within" });
    await as("admin").ask("PUT", "/budgets/ann", { day: "3" });
    await expect(guard.require(account, "ann")).rejects.toMatchObject({ code: "budget_exceeded" });
    await expect(guard.require(account, "bob")).resolves.toMatchObject({ kind: "within" });
    await as("admin").ask("DELETE", "/budgets/ann");
    await expect(guard.require(account, "ann")).resolves.toMatchObject({ kind: "within" });
  });

  it("say how much is spent: of their own to a person, of the account's too to an admin", async () => {
    const { as, spend } = people();
    const admin = as("admin", "adam");
    await spend("ann", "8");
    await spend("adam", "1");
    await admin.ask("PUT", "/budgets", { month: "9" });
    await admin.ask("PUT", "/budgets/ann", { day: "10", month: "100", softPercent: 80 });
    const mine = (await as("operator", "ann").ask("GET", "/budgets/me")).body.budgets;
    expect(mine).toMatchObject([
      { of: "person", period: "day", limit: "10", spent: "8", share: 0.8, standing: "near" },
      { of: "person", period: "month", limitUsd: 100, spentUsd: 8, share: 0.08, standing: "within" },
    ]);
    for (const { renewedAt } of mine) expect(Date.parse(renewedAt)).toBeGreaterThan(Date.now());
    expect((await admin.ask("GET", "/budgets/me")).body.budgets).toMatchObject([
      { of: "account", period: "month", spent: "9", share: 1, standing: "exceeded" },
    ]);
    expect((await as("operator", "ann").ask("GET", "/budgets")).body.budgets).toMatchObject([
      { subject: "ann", day: "10" },
    ]);
    expect((await as("operator", "bob").ask("GET", "/budgets/me")).body).toEqual({ budgets: [] });
  });

  it("are an admin's to set, and of their own account alone", async () => {
    const { as } = people();
    await as("admin").ask("PUT", "/budgets", { day: "1" });
    for (const role of ["viewer", "operator", "approver"]) {
      for (const path of ["/budgets", "/budgets/ann"]) {
        expect((await as(role, "ann").ask("PUT", path, { day: "1000" })).status).toBe(403);
        expect((await as(role, "ann").ask("DELETE", path)).status).toBe(403);
      }
    }
    expect((await as("operator").ask("GET", "/budgets/me")).status).toBe(403);
    await people().as("admin").ask("DELETE", "/budgets");
    expect((await as("admin").ask("GET", "/budgets")).body.budgets).toMatchObject([{ day: "1" }]);
  });

  it("take exact decimals that can be stored, and nothing else", async () => {
    const admin = people().as("admin");
    for (const body of [
      {},
      { day: null, month: null },
      { day: 5 },
      { day: "-1" },
      { day: "1e3" },
      { day: "1,5" },
      { day: "9000000.1" },
      { day: "9999999" },
      { day: "0.0000000000001" },
      { day: "1", softPercent: 0 },
      { day: "1", softPercent: 101 },
      { day: "1", days: "1" },
    ]) {
      expect([body, (await admin.ask("PUT", "/budgets", body)).status]).toEqual([body, 400]);
    }
    expect((await admin.ask("PUT", `/budgets/${"x".repeat(300)}`, { day: "1" })).status).toBe(400);
    expect((await admin.ask("GET", "/budgets")).body).toEqual({ budgets: [] });
  });

  it("P75: are in the audit record with who set which to what, until their person is deleted", async () => {
    const { account, as } = people();
    const admin = as("admin", "adam");
    await admin.ask("PUT", "/budgets/ann", { day: "5" });
    await admin.ask("DELETE", "/budgets");
    await as("operator", "ann").ask("PUT", "/budgets/ann", { day: "500" });
    const { audit } = server.service;
    /** Entries of one millisecond are in no order. */
    async function told() {
      await audit.flush();
      const { entries } = await audit.list(account, { action: "set_budgets", order: "oldest", limit: 10 });
      return sorted(entries.map(({ subject, outcome, target }) => [subject, outcome, target.budget]));
    }
    const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
    const nothing = { day: null, month: null, softPercent: null };
    const others = [
      ["adam", "done", { subject: null, ...nothing }],
      ["ann", "refused", undefined],
    ];
    expect(await told()).toEqual(
      sorted([["adam", "done", { subject: "ann", ...nothing, day: "5" }], ...others]),
    );
    await audit.deleteScope({ account, subject: "ann" }, Date.now() + 60_000);
    expect(await told()).toEqual(sorted([["adam", "done", undefined], ...others]));
  });
});
