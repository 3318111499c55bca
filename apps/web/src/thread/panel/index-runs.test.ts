import type { Envelope } from "@throughline/ai-core";
import { describe, expect, it } from "vitest";
import { indexRuns, sumUsage } from "./run-index";

const entry = (run_id: string, type: string, payload: object) => ({
  envelope: { run_id, type, payload } as unknown as Envelope,
});
const used = (total: number, cost_usd: number | null, complete?: boolean) => ({
  input_tokens: total - 1,
  output_tokens: 1,
  total_tokens: total,
  model: null,
  model_calls: 1,
  cost_usd,
  ...(complete !== undefined && { complete }),
});

const ENTRIES = [
  entry("r1", "run_start", { input: { messages: [{ role: "user", content: "Hello" }] } }),
  entry("r1", "usage", used(10, 0.5)),
  entry("r1", "run_end", { status: "success" }),
  entry("r2", "run_start", { input: { messages: [] } }),
  entry("r2", "run_end", { status: "error", error: { code: "run_failed", message: "It broke." } }),
];
const log = (count: number, generation = 0) => ({ entries: ENTRIES, count, generation });

describe("what the log says of runs", () => {
  it("is what each used, was asked and failed with", () => {
    const { byRun } = indexRuns(undefined, log(5));
    expect(byRun.get("r1")).toMatchObject({
      entries: 3,
      asked: "Hello",
      usage: { totalTokens: 10, costUsd: 0.5, isComplete: true },
    });
    expect(byRun.get("r2")).toMatchObject({ entries: 2, error: "It broke.", usage: undefined });
  });

  it("is also that a call has no price yet", () => {
    const entries = [entry("r3", "usage", used(10, null, false))];
    const { byRun } = indexRuns(undefined, { entries, count: 1, generation: 0 });
    expect(byRun.get("r3")?.usage).toMatchObject({ costUsd: null, isComplete: false });
  });

  it("comes to the same bit by bit", () => {
    let index = indexRuns(undefined, log(0));
    for (let count = 1; count <= 5; count += 1) index = indexRuns(index, log(count));
    expect(index.byRun).toEqual(indexRuns(undefined, log(5)).byRun);
    expect(indexRuns(index, log(5))).toBe(index);
  });

  it("forgets a log that is no more", () => {
    expect(indexRuns(indexRuns(undefined, log(5)), log(3, 1)).byRun.has("r2")).toBe(false);
  });

  it("sums tokens, and a cost only where every cost is known", () => {
    const [a, b] = [10, 20].map((totalTokens) => ({
      inputTokens: totalTokens,
      outputTokens: 0,
      totalTokens,
      modelCalls: 1,
      costUsd: 0.25 as number | null,
      isComplete: true,
    }));
    if (!a || !b) throw new Error("two usages");
    expect(sumUsage([a, b])).toMatchObject({ totalTokens: 30, modelCalls: 2, costUsd: 0.5 });
    expect(sumUsage([a, { ...b, costUsd: null }]).costUsd).toBeNull();
    expect(sumUsage([{ ...b, costUsd: null, isComplete: false }, a])).toMatchObject({
      costUsd: 0.25,
      isComplete: false,
    });
    expect(sumUsage([]).costUsd).toBeNull();
  });
});
