"use client";

import type { RunUsage } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { Envelope } from "@throughline/ai-core";
import { useRef } from "react";
import type { Resource } from "../../data/query";
import { useRefreshOnRun } from "../../data/refresh-on-run";
import { type Run, useRuns } from "../../data/runs";
import { useThreadLog } from "../inspector/thread-log";

/** Facts about a run from the log, which the list of runs does not have. */
export interface RunFacts {
  readonly entries: number;
  readonly usage: RunUsage | undefined;
  readonly error: string | undefined;
  /** Text of its input message. */
  readonly asked: string | undefined;
}

interface RunIndex {
  readonly generation: number;
  readonly scanned: number;
  readonly byRun: ReadonlyMap<string, RunFacts>;
}

interface GrowingLog {
  readonly generation: number;
  readonly count: number;
  readonly entries: readonly { readonly envelope: Envelope }[];
}

const NOTHING: RunFacts = { entries: 0, usage: undefined, error: undefined, asked: undefined };

/** Indexes new entries only: a log grows with every token. */
export function indexRuns(before: RunIndex | undefined, log: GrowingLog): RunIndex {
  const goesOn = before?.generation === log.generation && before.scanned <= log.count;
  if (goesOn && before.scanned === log.count) return before;
  const byRun = new Map(goesOn ? before.byRun : undefined);
  for (let at = goesOn ? before.scanned : 0; at < log.count; at += 1) {
    const envelope = log.entries[at]?.envelope;
    if (envelope) byRun.set(envelope.run_id, collectFacts(byRun.get(envelope.run_id) ?? NOTHING, envelope));
  }
  return { generation: log.generation, scanned: log.count, byRun };
}

function collectFacts(facts: RunFacts, envelope: Envelope): RunFacts {
  const next = { ...facts, entries: facts.entries + 1 };
  switch (envelope.type) {
    case "usage": {
      const { input_tokens, output_tokens, total_tokens, model_calls, cost_usd, complete } = envelope.payload;
      const usage = {
        inputTokens: input_tokens,
        outputTokens: output_tokens,
        totalTokens: total_tokens,
        modelCalls: model_calls,
        costUsd: cost_usd,
        isComplete: complete !== false,
      };
      return { ...next, usage };
    }
    case "run_end":
      return { ...next, error: envelope.payload.error?.message };
    case "run_start": {
      const content = envelope.payload.input.messages.findLast(({ role }) => role === "user")?.content;
      return { ...next, asked: typeof content === "string" ? content : facts.asked };
    }
    default:
      return next;
  }
}

/**
 * Sums usages. `costUsd` is null where a run was not metered: a partial sum would be mistaken for the whole. For a metered run
 * with calls without a price, the sum has the known part and is not complete.
 */
export function sumUsage(usages: readonly RunUsage[]): RunUsage {
  return usages.reduce(
    (sum, usage) => ({
      inputTokens: sum.inputTokens + usage.inputTokens,
      outputTokens: sum.outputTokens + usage.outputTokens,
      totalTokens: sum.totalTokens + usage.totalTokens,
      modelCalls: sum.modelCalls + usage.modelCalls,
      costUsd: addCost(sum.costUsd, usage),
      isComplete: sum.isComplete && usage.isComplete,
    }),
    {
      inputTokens: 0,
      outputTokens: 0,
      totalTokens: 0,
      modelCalls: 0,
      costUsd: usages.length === 0 ? null : 0,
      isComplete: true,
    },
  );
}

function addCost(sum: number | null, { costUsd, isComplete }: RunUsage): number | null {
  if (sum === null || (costUsd === null && isComplete)) return null;
  return sum + (costUsd ?? 0);
}

export interface ThreadRuns extends Resource<readonly Run[]> {
  /** Facts about each run from the log. */
  readonly index: RunIndex;
}

/** Returns the thread's runs, newest first, with facts about them from the log. */
export function useThreadRuns(): ThreadRuns {
  const handle = useThreadHandle();
  const runs = useRuns(handle);
  useRefreshOnRun(runs.refresh);
  const log = useThreadLog();
  const before = useRef<RunIndex>(undefined);
  // A cache of a pure function, so that a long log is not read again with each token.
  const index = indexRuns(before.current, log);
  before.current = index;
  return { ...runs, index };
}
