import { createSimulatedClock, usageFactSchema } from "@throughline/ai-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryLedgerStore } from "../memory.js";
import { madeCharge, madeUnit } from "../testing/made-unit.js";
import { NO_USAGE_SEEN, type UsageRow } from "./ledger.js";
import { billUsage, itemizedBillOf, monthRange, readStatement, toUsageFact, usageCsv } from "./usage.js";

const row = (key: string, amount = 17_000_000n): UsageRow => ({
  key,
  amount,
  calls: 2,
  inputTokens: 22,
  outputTokens: 6,
  unpriced: 1,
});

/** A reader of RFC 4180, of the kind that the other side has. */
function readCsv(text: string): string[][] {
  const lines: string[][] = [[]];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (isQuoted && character === '"' && text[at + 1] === '"') {
      cell += '"';
      at += 1;
    } else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === "," || (character === "\r" && text[at + 1] === "\n"))) {
      lines.at(-1)?.push(cell);
      cell = "";
      if (character === "\r") {
        lines.push([]);
        at += 1;
      }
    } else cell += character;
  }
  return lines.slice(0, -1);
}

describe("usage as CSV", () => {
  it("has a header and exact amounts", () => {
    expect(usageCsv("day", [row("2026-11-17")])).toBe(
      "day,calls,input_tokens,output_tokens,cost_usd,unpriced_calls\r\n2026-11-17,2,22,6,0.000017,1\r\n",
    );
  });

  it("can be read back whatever the keys hold, and holds no formula", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme-ascii" })), (keys) => {
        const [header, ...lines] = readCsv(
          usageCsv(
            "person",
            keys.map((key) => row(key)),
          ),
        );
        expect(header?.[0]).toBe("person");
        const defused = keys.map((key) => (/^[=+\-@\t\r]/.test(key) ? `'${key}` : key));
        expect(lines.map(([key]) => key)).toEqual(defused);
        for (const [key = ""] of lines) expect(key).not.toMatch(/^[=+\-@\t\r]/);
      }),
    );
  });
});

describe("a statement", () => {
  const november = Date.parse("2026-11-10T12:00:00.000Z");
  const december = Date.parse("2026-12-01T00:00:00.000Z");

  async function ledgerOfNovember() {
    const clock = createSimulatedClock(november);
    const ledger = createMemoryLedgerStore(clock);
    const charge = async (amount: bigint, fields: Parameters<typeof madeUnit>[0] = {}) => {
      const unit = madeUnit(fields);
      await ledger.open(unit);
      await ledger.charge(unit.unitId, madeCharge(amount));
    };
    await charge(1n);
    await charge(2n, { subject: "bob" });
    clock.advance(86_400_000);
    await charge(4n, { graphId: "langgraph:chat" });
    await charge(8n, { account: "another" });
    clock.advance(30 * 86_400_000);
    await charge(16n);
    return ledger;
  }

  it("adds up a month, the same by day, agent, model and person", async () => {
    const ledger = await ledgerOfNovember();
    const statement = await readStatement(ledger, { account: "acct-a", month: "2026-11", now: december });
    expect(statement.total).toMatchObject({ calls: 3, amount: 7n, unpriced: 0 });
    expect(statement.isFinal).toBe(true);
    expect(statement.by.day.map(({ key }) => key)).toEqual(["2026-11-10", "2026-11-11"]);
    for (const rows of Object.values(statement.by)) {
      expect(rows.reduce((sum, { amount }) => sum + amount, 0n)).toBe(7n);
    }
  });

  it("is not final before its month is over, or while a call in it has no price", async () => {
    const ledger = await ledgerOfNovember();
    const of = { account: "acct-a", month: "2026-11" };
    expect((await readStatement(ledger, { ...of, now: december - 1 })).isFinal).toBe(false);
    const clock = createSimulatedClock(november);
    const doubtful = createMemoryLedgerStore(clock);
    await doubtful.open(madeUnit());
    expect(await readStatement(doubtful, { ...of, now: december })).toMatchObject({
      isFinal: false,
      total: { unpriced: 1 },
    });
  });

  it.each(["2026-13", "2026-1", "november", "2026-11-01"])("has no month %s", (month) => {
    expect(() => monthRange(month)).toThrow("written as 2026-11");
  });
});

describe("a unit outside of billing", () => {
  it("is a usage fact, whose cost is unknown until it is settled", () => {
    const unit = madeUnit({ model: "flaky" });
    expect(usageFactSchema.parse(toUsageFact(unit, NO_USAGE_SEEN, null))).toMatchObject({
      costUsd: null,
      model: "flaky",
      sourceReference: unit.unitId,
    });
    const { amount, seen } = madeCharge(17_000_000n, { servedModel: "dear" });
    expect(usageFactSchema.parse(toUsageFact(unit, seen, amount))).toMatchObject({
      costUsd: 0.000017,
      model: "dear",
      inputTokens: 11,
      outputTokens: 3,
    });
  });

  it("is part of its run's one sum, which says whether it is complete", () => {
    const counted = {
      model: "cheap",
      model_calls: 1,
      input_tokens: 40,
      output_tokens: 2,
      total_tokens: 42,
      cost_usd: null,
    };
    const bill = { calls: 2, inputTokens: 22, outputTokens: 6, amount: 17_000_000n, unpriced: 0, units: [] };
    expect(billUsage(counted, bill)).toEqual({
      model: "cheap",
      model_calls: 2,
      input_tokens: 22,
      output_tokens: 6,
      total_tokens: 28,
      cost_usd: 0.000017,
      complete: true,
      calls: [],
    });
    expect(billUsage(counted, { ...bill, unpriced: 1 })).toMatchObject({
      input_tokens: 40,
      output_tokens: 6,
      cost_usd: 0.000017,
      complete: false,
    });
    expect(billUsage({ ...counted, model_calls: 3 }, bill)).toMatchObject({
      cost_usd: 0.000017,
      complete: false,
    });
    expect(billUsage(counted, { ...bill, unpriced: 2 })).toMatchObject({ cost_usd: null, complete: false });
  });

  it("is listed with its run's sum, the first 200 of them", async () => {
    const ledger = createMemoryLedgerStore();
    const settled = madeUnit({ runId: "itemized" });
    await ledger.open(settled);
    await ledger.charge(settled.unitId, madeCharge(17_000_000n, { servedModel: "dear" }));
    await ledger.open(madeUnit({ runId: "itemized" }));
    const bill = await itemizedBillOf(ledger, "itemized");
    const counted = {
      model: "cheap",
      model_calls: 2,
      input_tokens: 40,
      output_tokens: 2,
      total_tokens: 42,
      cost_usd: null,
    };
    const { calls = [] } = billUsage(counted, bill);
    expect(calls).toHaveLength(2);
    expect(calls.find(({ usage_unit_id }) => usage_unit_id === settled.unitId)).toEqual({
      usage_unit_id: settled.unitId,
      model: "dear",
      input_tokens: 11,
      output_tokens: 3,
      cost_usd: 0.000017,
    });
    expect(calls.filter(({ cost_usd }) => cost_usd === null)).toHaveLength(1);
    for (let call = 0; call < 200; call += 1) await ledger.open(madeUnit({ runId: "itemized" }));
    expect(await itemizedBillOf(ledger, "itemized")).toMatchObject({ calls: 202, units: { length: 200 } });
  });

  it("is missing from a sum of calls that no meter saw, which has no cost", () => {
    const counted = {
      model: "x",
      model_calls: 1,
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      cost_usd: null,
    };
    const none = { calls: 0, inputTokens: 0, outputTokens: 0, amount: 0n, unpriced: 0, units: [] };
    expect(billUsage(counted, none)).toEqual({ ...counted, complete: false });
    expect(billUsage({ ...counted, model_calls: 0 }, none)).toMatchObject({ cost_usd: null, complete: true });
  });
});
