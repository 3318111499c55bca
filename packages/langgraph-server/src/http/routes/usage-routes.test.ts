import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeEachStore } from "../../testing/describe-each-store.js";
import { type MadeCall, madeCall } from "../../testing/made-call.js";
import { startTestServer, type TestServer } from "../../testing/test-server.js";

const DAY_MS = 86_400_000;
const day = (offset: number) => new Date(Date.now() + offset * DAY_MS).toISOString().slice(0, 10);
/** Also at midnight, and on the last day of a month. */
const AROUND_NOW = `from=${day(-2)}&to=${day(3)}`;

interface Row {
  readonly key: string;
  readonly calls: number;
  readonly cost: string;
  readonly costUsd: number;
  readonly unpriced: number;
}

describeEachStore("What model calls cost, over HTTP, kept in %s,", (storeOf) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ store: storeOf() });
  });
  afterAll(() => server.close());

  function people() {
    const account = `a-${randomUUID()}`;
    const call = (fields: Omit<MadeCall, "account"> = {}) =>
      madeCall(server.service.billing.ledger, { account, ...fields });
    const as = (role: string, subject?: string) => {
      const headers = {
        "x-throughline-account": account,
        "x-throughline-role": role,
        ...(subject !== undefined && { "x-throughline-subject": subject }),
      };
      const get = (path: string) => fetch(`${server.url}${path}`, { headers });
      return {
        get,
        status: async (path: string) => (await get(path)).status,
        async rows(query: string): Promise<Row[]> {
          const answer = await get(`/usage?${AROUND_NOW}&${query}`);
          return JSON.parse(await answer.text()).rows;
        },
      };
    };
    return { account, call, as };
  }

  it("is listed by day, agent, model, person and run, in amounts that add up", async () => {
    const { call, as } = people();
    const runId = randomUUID();
    await call({ subject: "ann", cost: "0.1", runId });
    await call({ subject: "ann", cost: "0.2", runId, attempt: 1, model: "dear" });
    await call({ subject: "bob", cost: "0.000000000001", graphId: "langgraph:chat" });
    await call({ runId: "open" });
    const admin = as("admin", "adam");
    const shown = async (by: string) =>
      (await admin.rows(`by=${by}`)).map(({ key, cost, calls, unpriced }) => [key, cost, calls, unpriced]);
    const days = await shown("day");
    expect(days.reduce((sum, [, , calls]) => sum + Number(calls), 0)).toBe(4);
    expect(await shown("agent")).toEqual([
      ["langgraph:chat", "0.000000000001", 1, 0],
      ["langgraph:poet", "0.3", 3, 1],
    ]);
    expect(await shown("model")).toEqual([
      ["cheap", "0.100000000001", 3, 1],
      ["dear", "0.2", 1, 0],
    ]);
    expect(await shown("person")).toEqual([
      ["", "0", 1, 1],
      ["ann", "0.3", 2, 0],
      ["bob", "0.000000000001", 1, 0],
    ]);
    expect(await shown("run")).toContainEqual([runId, "0.3", 2, 0]);
    expect((await admin.rows("by=person"))[1]?.costUsd).toBe(0.3);
    // By default: this month, by day.
    const read = async (path: string) => JSON.parse(await (await admin.get(path)).text());
    const answer = await read("/usage");
    expect(answer).toMatchObject({ by: "day", subject: null, next: null });
    expect(answer.from).toMatch(/-01T00:00:00\.000Z$/);
    expect((await read(`/usage?from=${day(2)}`)).rows).toEqual([]);
    expect((await read(`/usage?from=${day(-2)}&to=${day(-1)}`)).rows).toEqual([]);
  });

  it("is paged, also past a group without a name", async () => {
    const { call, as } = people();
    for (const subject of [undefined, "ann", "bob", "cid"]) await call({ subject, cost: "1" });
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const query: string = after === null ? "" : `&after=${after}`;
      const answer = await as("admin").get(`/usage?${AROUND_NOW}&by=person&limit=1${query}`);
      const page: { rows: Row[]; next: string | null } = JSON.parse(await answer.text());
      seen.push(...page.rows.map(({ key }) => key));
      after = page.next;
    } while (after !== null);
    expect(seen).toEqual(["", "ann", "bob", "cid"]);
  });

  it("is a spreadsheet with every row when asked for one", async () => {
    const { call, as } = people();
    const runs = Array.from({ length: 501 }, (_, index) => `run-${String(index).padStart(3, "0")}`);
    await Promise.all(runs.map((runId) => call({ runId, cost: "0.5" })));
    await call({ runId: "=cmd()", cost: "0.5" });
    const answer = await as("admin").get(`/usage?${AROUND_NOW}&by=run&format=csv`);
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(answer.headers.get("content-disposition")).toBe('attachment; filename="usage-by-run.csv"');
    const [header, first, ...lines] = (await answer.text()).trimEnd().split("\r\n");
    expect(header).toBe("run,calls,input_tokens,output_tokens,cost_usd,unpriced_calls");
    expect(first).toBe("'=cmd(),1,10,5,0.5,0");
    expect(lines).toEqual(runs.map((runId) => `${runId},1,10,5,0.5,0`));
  });

  it("is everyone's for an admin, one's own for an operator, and nothing for the other roles", async () => {
    const { call, as } = people();
    await call({ subject: "ann", cost: "1" });
    await call({ subject: "bob", cost: "2" });
    await call({ cost: "4" });
    const costs = async (who: ReturnType<typeof as>, query = "") =>
      (await who.rows(`by=person${query}`)).map(({ key, cost }) => `${key} ${cost}`);
    const [admin, ann] = [as("admin", "adam"), as("operator", "ann")];
    expect(await costs(admin)).toEqual([" 4", "ann 1", "bob 2"]);
    expect(await costs(admin, "&subject=bob")).toEqual(["bob 2"]);
    expect(await costs(ann)).toEqual(["ann 1"]);
    expect(await costs(ann, "&subject=ann")).toEqual(["ann 1"]);
    for (const path of ["/usage", "/usage/statement", "/usage/unresolved", "/usage/unbilled"]) {
      expect(await ann.status(`${path}?subject=bob`)).toBe(403);
      expect(await as("operator").status(path)).toBe(403);
      expect(await as("viewer", "vic").status(path)).toBe(403);
      expect(await as("approver", "pat").status(path)).toBe(403);
    }
    const stranger = people();
    expect(await costs(stranger.as("admin", "ann"))).toEqual([]);
    expect(await costs(stranger.as("admin", "ann"), "&subject=ann")).toEqual([]);
  });

  it("is added up in a month's statement, of the account and of a person", async () => {
    const { call, as } = people();
    await call({ subject: "ann", cost: "0.1" });
    await call({ subject: "bob", cost: "0.2", graphId: "langgraph:chat" });
    await call({ subject: "bob" });
    const statement = async (who: ReturnType<typeof as>, query = "") =>
      JSON.parse(await (await who.get(`/usage/statement${query}`)).text());
    const whole = await statement(as("admin"));
    expect(whole).toMatchObject({
      month: new Date().toISOString().slice(0, 7),
      subject: null,
      isFinal: false,
      total: { calls: 3, cost: "0.3", costUsd: 0.3, unpriced: 1 },
      by: {
        agent: [
          { key: "langgraph:chat", cost: "0.2" },
          { key: "langgraph:poet", cost: "0.1" },
        ],
        person: [
          { key: "ann", cost: "0.1" },
          { key: "bob", cost: "0.2" },
        ],
      },
    });
    const own = await statement(as("operator", "ann"));
    expect(own).toMatchObject({ subject: "ann", total: { calls: 1, cost: "0.1" } });
    expect(own.by.person).toHaveLength(1);
    expect(await statement(as("admin"), "?month=2024-02")).toMatchObject({
      isFinal: true,
      total: { calls: 0, cost: "0" },
    });
    const csv = await (await as("admin").get("/usage/statement?format=csv")).text();
    const [header, total, ...lines] = csv.trimEnd().split("\r\n");
    expect(header).toBe("by,key,calls,input_tokens,output_tokens,cost_usd,unpriced_calls");
    expect(total).toBe("total,,3,20,10,0.3,1");
    expect(lines.slice(-2)).toEqual(["person,ann,1,10,5,0.1,0", "person,bob,2,10,5,0.2,1"]);
  });

  it("lists calls without a price, oldest first, page by page", async () => {
    const { call, as } = people();
    const { ledger } = server.service.billing;
    const ids: string[] = [];
    for (const subject of ["ann", "bob", "ann"])
      ids.push(await call({ subject, requestId: `asked by ${subject}` }));
    await call({ subject: "ann", cost: "1" });
    await ledger.close(ids[0] ?? "", "unresolved", "no_evidence");
    async function listed(who: ReturnType<typeof as>): Promise<Record<string, unknown>[]> {
      const units: Record<string, unknown>[] = [];
      let after: string | null = null;
      do {
        const query: string = after === null ? "" : `&after=${after}`;
        const answer = await who.get(`/usage/unresolved?limit=1${query}`);
        const page: { units: Record<string, unknown>[]; next: string | null } = JSON.parse(
          await answer.text(),
        );
        units.push(...page.units);
        after = page.next;
      } while (after !== null);
      return units;
    }
    const all = await listed(as("admin"));
    expect(new Set(all.map(({ id }) => id))).toEqual(new Set(ids));
    expect(all.map(({ openedAt }) => openedAt)).toEqual(all.map(({ openedAt }) => openedAt).sort());
    expect(all.find(({ id }) => id === ids[0])).toMatchObject({ state: "unresolved", reason: "no_evidence" });
    expect(JSON.stringify(all)).not.toContain("hash-of-the-key");
    const own = await listed(as("operator", "ann"));
    expect(own.map(({ requestId }) => requestId)).toEqual(["asked by ann", "asked by ann"]);
    expect(await listed(people().as("admin"))).toEqual([]);
  });

  it("lists runs whose calls LiteLLM's log has not shown, page by page", async () => {
    const { account, call, as } = people();
    const { ledger } = server.service.billing;
    const unbilled = (runId: string, subject: string) =>
      ledger.addUnbilled({
        runId,
        account,
        subject,
        threadId: "t",
        graphId: "langgraph:poet",
        modelCalls: 2,
      });
    const [first = "", second = "", third = ""] = [1, 2, 3].map((index) => `${account}-run-${index}`);
    await unbilled(first, "ann");
    await unbilled(second, "bob");
    await unbilled(third, "ann");
    await call({ runId: first, cost: "1" });
    await call({ runId: third, cost: "1" });
    await call({ runId: third, cost: "1" });
    await ledger.failUnbilled(second);
    async function listed(who: ReturnType<typeof as>): Promise<Record<string, unknown>[]> {
      const runs: Record<string, unknown>[] = [];
      let after: string | null = null;
      do {
        const query: string = after === null ? "" : `&after=${after}`;
        const answer = await who.get(`/usage/unbilled?limit=1${query}`);
        const page: { runs: Record<string, unknown>[]; next: string | null } = JSON.parse(
          await answer.text(),
        );
        runs.push(...page.runs);
        after = page.next;
      } while (after !== null);
      return runs;
    }
    expect(await listed(as("admin"))).toEqual([
      {
        runId: first,
        state: "awaited",
        agentId: "langgraph:poet",
        subject: "ann",
        endedAt: expect.stringMatching(/Z$/),
        modelCalls: 2,
        missing: 1,
      },
      expect.objectContaining({ runId: second, state: "billing_failed", missing: 2 }),
    ]);
    expect(await listed(as("operator", "ann"))).toMatchObject([{ runId: first }]);
    expect(await listed(people().as("admin"))).toEqual([]);
  });

  it("is refused for a time or a page that there is not", async () => {
    const admin = people().as("admin");
    const place = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    for (const path of [
      "/usage?from=2026-02-31",
      "/usage?from=1999-01-01",
      "/usage?from=2026-11-02&to=2026-11-02",
      "/usage?from=yesterday",
      "/usage?by=key",
      `/usage?after=${place(1)}`,
      `/usage?after=${place("a\0b")}`,
      "/usage/statement?month=2026-13",
      `/usage/unresolved?after=${place([0, "no-uuid"])}`,
      `/usage/unbilled?after=${place([0, "a\0b"])}`,
    ]) {
      const answer = await admin.get(path);
      expect([path, answer.status]).toEqual([path, 400]);
      expect(await answer.json()).toMatchObject({ code: "invalid_input" });
    }
  });
});
