import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { type LedgerStore, type NewUnit, NO_USAGE_SEEN, type UsageGroup } from "../ledger/ledger.js";

import { madeCharge, madeUnit } from "../testing/made-unit.js";

const AGES = { from: 0, to: Date.UTC(2100, 0) };

/** What every ledger store does alike. Units of one test are found by an account and runs of its own. */
export function runLedgerConformance(open: () => LedgerStore): void {
  let ledger: LedgerStore;
  let account: string;
  let runId: string;
  beforeEach(() => {
    ledger = open();
    account = `acct-${randomUUID()}`;
    runId = `run-${randomUUID()}`;
  });

  const unitOf = (fields: Partial<NewUnit> = {}) => madeUnit({ account, runId, ...fields });

  async function opened(fields: Partial<NewUnit> = {}): Promise<NewUnit> {
    const unit = unitOf(fields);
    await ledger.open(unit);
    return unit;
  }

  async function charged(amount: bigint, fields: Partial<NewUnit> = {}, served = "cheap"): Promise<NewUnit> {
    const unit = await opened(fields);
    expect(await ledger.charge(unit.unitId, madeCharge(amount, { servedModel: served }))).toBe(true);
    return unit;
  }

  async function find(unitId: string) {
    const [unit] = await ledger.find([unitId]);
    if (!unit) throw new Error("no such unit");
    return unit;
  }

  describe("a unit", () => {
    it("is in doubt from the moment it is opened, with all that it was opened with", async () => {
      const unit = await opened({ subject: undefined, model: null });
      expect(await find(unit.unitId)).toMatchObject({
        ...unit,
        state: "in_doubt",
        reason: null,
        doubtedAt: null,
        evidence: null,
        billed: null,
        seen: NO_USAGE_SEEN,
      });
    });

    it("is opened once, also when the opening is repeated after it was settled", async () => {
      const unit = await charged(17n);
      await ledger.open(unit);
      expect(await find(unit.unitId)).toMatchObject({ state: "settled", billed: 17n });
      expect((await ledger.billOf(runId)).calls).toBe(1);
    });

    it("tells why it stays in doubt until it is settled, and not after", async () => {
      const unit = await opened();
      await ledger.doubt(unit.unitId, "aborted", { ...NO_USAGE_SEEN, responseId: "r" });
      expect(await find(unit.unitId)).toMatchObject({
        reason: "aborted",
        doubtedAt: expect.any(Number),
        seen: { responseId: "r" },
      });
      await ledger.charge(unit.unitId, madeCharge(1n));
      await ledger.doubt(unit.unitId, "late", NO_USAGE_SEEN);
      expect(await find(unit.unitId)).toMatchObject({ reason: null, state: "settled" });
    });

    it("is not found by an id that is none", async () => {
      expect(await ledger.find(["", "not a uuid", randomUUID()])).toEqual([]);
    });
  });

  describe("a charge", () => {
    it("writes one receipt, whose reference is the unit's id", async () => {
      const unit = await charged(17_000_000n);
      expect(await ledger.receipts(runId)).toMatchObject([
        {
          sourceSystem: "litellm",
          sourceReference: unit.unitId,
          account,
          runId,
          amount: 17_000_000n,
          evidence: "response_header",
        },
      ]);
    });

    it("is made once, however many come at the same time and whatever they say", async () => {
      const unit = await opened();
      const made = await Promise.all(
        [1n, 2n, 3n, 4n, 5n].map((amount) => ledger.charge(unit.unitId, madeCharge(amount))),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      const receipts = await ledger.receipts(runId);
      expect(receipts).toHaveLength(1);
      expect((await find(unit.unitId)).billed).toBe(receipts[0]?.amount);
    });

    it("of nothing is a receipt too", async () => {
      await charged(0n);
      expect(await ledger.receipts(runId)).toHaveLength(1);
    });

    it("holds amounts that a float does not", async () => {
      const unit = await charged(9_007_199_254_740_993n);
      expect((await find(unit.unitId)).billed).toBe(9_007_199_254_740_993n);
    });

    it("of a unit that was never opened is refused", async () => {
      expect(await ledger.charge(randomUUID(), madeCharge(1n))).toBe(false);
    });
  });

  describe("a correction", () => {
    it("is a row beside the receipt, which stays as it is", async () => {
      const unit = await charged(10n);
      expect(await ledger.correct(unit.unitId, 10n, madeCharge(25n), "spend log differs")).toBe(true);
      expect(await ledger.correct(unit.unitId, 25n, madeCharge(5n), "again")).toBe(true);
      expect((await ledger.receipts(runId)).map(({ amount }) => amount)).toEqual([10n]);
      expect((await ledger.corrections(unit.unitId)).map(({ delta }) => delta)).toEqual([15n, -20n]);
      expect((await find(unit.unitId)).billed).toBe(5n);
    });

    it("from an amount that the unit no longer has writes nothing", async () => {
      const unit = await charged(10n);
      const made = await Promise.all(
        [20n, 20n, 30n, 40n].map((amount) => ledger.correct(unit.unitId, 10n, madeCharge(amount), "race")),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await ledger.corrections(unit.unitId)).toHaveLength(1);
    });

    it("of a unit without a receipt, or to the same amount, writes nothing", async () => {
      const unit = await opened();
      expect(await ledger.correct(unit.unitId, 0n, madeCharge(1n), "none")).toBe(false);
      await ledger.charge(unit.unitId, madeCharge(1n));
      expect(await ledger.correct(unit.unitId, 1n, madeCharge(1n), "same")).toBe(false);
      expect(await ledger.corrections(unit.unitId)).toEqual([]);
    });
  });

  describe("closing", () => {
    it("lists a unit as unresolved until it is charged after all", async () => {
      const unit = await opened();
      expect(await ledger.close(unit.unitId, "unresolved", "no evidence")).toBe(true);
      expect(await find(unit.unitId)).toMatchObject({ state: "unresolved", reason: "no evidence" });
      expect(await ledger.charge(unit.unitId, madeCharge(7n))).toBe(true);
      expect(await find(unit.unitId)).toMatchObject({ state: "settled", billed: 7n });
    });

    it("writes a unit off for good", async () => {
      const unit = await opened();
      expect(await ledger.close(unit.unitId, "written_off", "policy")).toBe(true);
      expect(await ledger.charge(unit.unitId, madeCharge(7n))).toBe(false);
      expect(await ledger.receipts(runId)).toEqual([]);
    });

    it("leaves what is settled alone", async () => {
      const unit = await charged(7n);
      expect(await ledger.close(unit.unitId, "written_off", "policy")).toBe(false);
    });
  });

  it("keeps a unit's amount equal to its receipt and corrections, whatever happens to it and in which order", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("charge" as const), amount: fc.bigInt({ min: 0n, max: 50n }) }),
      fc.record({
        kind: fc.constant("correct" as const),
        from: fc.bigInt({ min: 0n, max: 50n }),
        amount: fc.bigInt({ min: 0n, max: 50n }),
      }),
      fc.record({ kind: fc.constantFrom("unresolved" as const, "written_off" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async (steps) => {
        const unit = await opened({ runId: `run-${randomUUID()}` });
        await Promise.all(
          steps.map((at) => {
            if (at.kind === "charge") return ledger.charge(unit.unitId, madeCharge(at.amount));
            if (at.kind === "correct")
              return ledger.correct(unit.unitId, at.from, madeCharge(at.amount), "random");
            return ledger.close(unit.unitId, at.kind, "random");
          }),
        );
        const receipts = await ledger.receipts(unit.runId);
        const corrections = await ledger.corrections(unit.unitId);
        const { billed, state } = await find(unit.unitId);
        expect(receipts.length).toBe(state === "settled" ? 1 : 0);
        const sum = corrections.reduce((total, { delta }) => total + delta, receipts[0]?.amount ?? 0n);
        expect(billed).toBe(state === "settled" ? sum : null);
      }),
      { numRuns: 30 },
    );
  });

  describe("lists", () => {
    it("gives units of a state by age, page by page", async () => {
      const units = [await opened(), await opened(), await opened(), await opened()];
      await ledger.charge(units[1]?.unitId ?? "", madeCharge(1n));
      const found: string[] = [];
      for (let after: NewUnit | undefined; ; ) {
        const position = after && (await find(after.unitId));
        const [next] = await ledger.list({
          state: "in_doubt",
          olderThanMs: -1_000,
          account,
          limit: 1,
          after: position,
        });
        if (!next) break;
        found.push(next.unitId);
        after = next;
      }
      expect(new Set(found)).toEqual(new Set([units[0], units[2], units[3]].map((unit) => unit?.unitId)));
      expect(found).toHaveLength(3);
    });

    it("leaves out what is too young, and other accounts", async () => {
      await opened();
      expect(await ledger.list({ state: "in_doubt", olderThanMs: 60_000, account, limit: 9 })).toEqual([]);
      expect(
        await ledger.list({ state: "in_doubt", olderThanMs: -1_000, account: "nobody", limit: 9 }),
      ).toEqual([]);
    });
  });

  describe("sums", () => {
    it("bill a run over all its calls and attempts, and count what has no price", async () => {
      await charged(10n);
      await charged(20n, { attempt: 1 });
      await opened({ attempt: 1 });
      const lost = await opened();
      await ledger.close(lost.unitId, "unresolved", "no evidence");
      await charged(99n, { runId: "another" });
      expect(await ledger.billOf(runId)).toEqual({
        calls: 4,
        inputTokens: 22,
        outputTokens: 6,
        amount: 30n,
        unpriced: 2,
      });
    });

    it("of a run without calls are nothing", async () => {
      expect(await ledger.billOf(runId)).toEqual({
        calls: 0,
        inputTokens: 0,
        outputTokens: 0,
        amount: 0n,
        unpriced: 0,
      });
    });

    it.each<[UsageGroup, readonly (readonly [string, bigint])[]]>([
      [
        "agent",
        [
          ["langgraph:chat", 4n],
          ["langgraph:poet", 3n],
        ],
      ],
      [
        "model",
        [
          ["cheap", 3n],
          ["dear", 4n],
        ],
      ],
      [
        "person",
        [
          ["", 4n],
          ["ann", 1n],
          ["bob", 2n],
        ],
      ],
    ])("are read by %s, page by page", async (by, expected) => {
      await charged(1n);
      await charged(2n, { subject: "bob" });
      await charged(4n, { subject: undefined, graphId: "langgraph:chat" }, "dear");
      const rows: (readonly [string, bigint])[] = [];
      for (let after: string | undefined; ; ) {
        const page = await ledger.usage({ account, ...AGES, by, after, limit: 1 });
        rows.push(...page.rows.map(({ key, amount }) => [key, amount] as const));
        if (page.next === undefined) break;
        after = page.next;
      }
      expect(rows).toEqual(expected);
    });

    it("are read by day and run, of one person and one span only", async () => {
      await charged(1n);
      await charged(2n, { subject: "bob" });
      const { openedAt } = await find((await charged(4n)).unitId);
      const day = new Date(openedAt).toISOString().slice(0, 10);
      const query = { account, limit: 10, subject: "ann" };
      expect((await ledger.usage({ ...query, ...AGES, by: "day" })).rows).toMatchObject([
        { key: day, amount: 5n, calls: 2 },
      ]);
      expect((await ledger.usage({ ...query, ...AGES, by: "run" })).rows).toMatchObject([
        { key: runId, amount: 5n },
      ]);
      expect((await ledger.usage({ ...query, from: 0, to: openedAt - 3_600_000, by: "day" })).rows).toEqual(
        [],
      );
    });

    it("are read of one agent and one model only, down to the runs behind them", async () => {
      await charged(1n);
      await charged(2n, { runId: "other", graphId: "langgraph:chat" });
      await charged(4n, { graphId: "langgraph:chat" }, "dear");
      const runs = async (more: object) =>
        (await ledger.usage({ account, ...AGES, by: "run", limit: 10, ...more })).rows
          .map(({ key, amount }) => [key, amount])
          .sort();
      expect(await runs({ graphId: "langgraph:chat" })).toEqual(
        [
          ["other", 2n],
          [runId, 4n],
        ].sort(),
      );
      expect(await runs({ graphId: "langgraph:chat", model: "dear" })).toEqual([[runId, 4n]]);
      expect(await runs({ model: "none" })).toEqual([]);
    });

    it("bill several runs at once, and leave out those without calls", async () => {
      await charged(10n);
      await charged(20n, { runId: `${runId}-2` });
      const bills = await ledger.billsOf([runId, `${runId}-2`, "none"]);
      expect(new Set(bills.keys())).toEqual(new Set([runId, `${runId}-2`]));
      expect(bills.get(runId)).toEqual(await ledger.billOf(runId));
      expect(bills.get(`${runId}-2`)?.amount).toBe(20n);
      expect(await ledger.billsOf([])).toEqual(new Map());
    });

    it("of what was spent since each of several times, by account and by person", async () => {
      await charged(1n);
      await charged(2n, { subject: "bob" });
      await opened();
      const past = 0;
      const future = Date.UTC(2100, 0);
      expect(await ledger.spentSince(account, undefined, [past, future])).toEqual([3n, 0n]);
      expect(await ledger.spentSince(account, "bob", [future, past])).toEqual([0n, 2n]);
      expect(await ledger.spentSince(account, undefined, [])).toEqual([]);
    });
  });

  it("lists the first units of a run, oldest first", async () => {
    const first = await charged(10n);
    await charged(20n, { runId: `${runId}-2` });
    const second = await opened();
    const idsOf = async (limit: number) =>
      (await ledger.unitsOf(runId, limit)).map(({ unitId }) => unitId).sort();
    expect(await idsOf(9)).toEqual([first.unitId, second.unitId].sort());
    expect(await idsOf(1)).toHaveLength(1);
    expect(await ledger.unitsOf("none", 9)).toEqual([]);
  });

  describe("a run with calls that have no unit", () => {
    const unbilled = (fields: Partial<Parameters<LedgerStore["addUnbilled"]>[0]> = {}) => ({
      runId,
      account,
      subject: "ann",
      threadId: "t1",
      graphId: "langgraph:chat",
      modelCalls: 2,
      ...fields,
    });
    const listed = (fields: { readonly state?: "awaited" | "billing_failed" } = {}) =>
      ledger.listUnbilled({ account, limit: 9, ...fields });

    it("is listed with what it misses, until units come", async () => {
      await ledger.addUnbilled(unbilled());
      expect(await listed()).toMatchObject([{ ...unbilled(), state: "awaited", missing: 2 }]);
      await ledger.dropUnbilled([runId], "billed");
      await opened();
      expect(await listed()).toMatchObject([{ missing: 1 }]);
      await opened();
      await opened();
      expect(await listed()).toMatchObject([{ missing: 0 }]);
      expect(await ledger.failUnbilled(runId)).toBe(false);
      await ledger.dropUnbilled([runId], "billed");
      expect(await listed()).toEqual([]);
    });

    it("is recorded once, with the highest number of calls", async () => {
      await ledger.addUnbilled(unbilled());
      await ledger.addUnbilled(unbilled({ modelCalls: 3 }));
      await ledger.addUnbilled(unbilled({ modelCalls: 1 }));
      expect(await listed()).toMatchObject([{ modelCalls: 3, missing: 3 }]);
    });

    it("fails once, though several end its wait, and stays listed", async () => {
      await ledger.addUnbilled(unbilled());
      const ended = await Promise.all([1, 2, 3].map(() => ledger.failUnbilled(runId)));
      expect(ended.filter(Boolean)).toHaveLength(1);
      expect(await listed({ state: "awaited" })).toEqual([]);
      expect(await listed()).toMatchObject([{ state: "billing_failed", missing: 2 }]);
      await ledger.dropUnbilled([runId], "all");
      expect(await listed()).toEqual([]);
      expect(await ledger.failUnbilled(runId)).toBe(false);
    });

    it("is paged, of one account", async () => {
      const runIds = [1, 2, 3].map((index) => `${runId}-${index}`);
      for (const id of runIds) await ledger.addUnbilled(unbilled({ runId: id }));
      await ledger.addUnbilled(unbilled({ runId: `${runId}-4`, account: `${account}-2` }));
      const seen: string[] = [];
      for (let after: { readonly endedAt: number; readonly runId: string } | undefined; ; ) {
        const [run] = await ledger.listUnbilled({ account, after, limit: 1 });
        if (!run) break;
        seen.push(run.runId);
        after = run;
      }
      expect(seen).toEqual(runIds);
    });

    it("loses the person and the thread with their deletion, and is still missed", async () => {
      await ledger.addUnbilled(unbilled());
      await ledger.addUnbilled(unbilled({ runId: `${runId}-2`, subject: "bob", threadId: "t2" }));
      await ledger.redact({ account, subject: "ann", openedBefore: 0 });
      expect(await listed()).toMatchObject([{ subject: "ann" }, { subject: "bob" }]);
      await ledger.redact({ account, subject: "ann" });
      await ledger.redact({ account, threadId: "t2" });
      expect(await listed()).toMatchObject([
        { subject: undefined, threadId: "", missing: 2 },
        { subject: undefined, threadId: "", missing: 2 },
      ]);
    });
  });

  it("knows which keys calls were made with", async () => {
    const keyHash = randomUUID();
    await opened({ keyHash });
    expect(await ledger.knownKeys([keyHash, "foreign"])).toEqual(new Set([keyHash]));
  });

  it("keeps the amounts of what is deleted, without who and which thread", async () => {
    await charged(1n, { threadId: "t1" });
    const bobs = await charged(2n, { subject: "bob", threadId: "t2" });
    await ledger.redact({ account, subject: "ann" });
    const people = async () =>
      (await ledger.usage({ account, ...AGES, by: "person", limit: 9 })).rows.map(({ key }) => key);
    expect(await people()).toEqual(["", "bob"]);
    await ledger.redact({ account, threadId: "t2" });
    expect(await people()).toEqual([""]);
    expect(await find(bobs.unitId)).toMatchObject({ threadId: "", requestId: "", traceId: "", billed: 2n });
    expect((await ledger.billOf(runId)).amount).toBe(3n);
  });
}
