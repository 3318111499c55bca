"use client";

import type { UsageView } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import type { Envelope } from "@throughline/ai-core";
import { useRef } from "react";
import { type Resource, useRefreshOnRun } from "../../data/query";
import { type Run, useRuns } from "../../data/thread";
import { useThreadLog } from "../inspector/thread-log";

/** What the log says of a run that the list of runs does not. */
export interface RunFacts {
  readonly entries: number;
  readonly usage: UsageView | undefined;
  readonly error: string | undefined;
  /** What it was asked. */
  readonly asked: string | undefined;
}

interface RunIndex {
  readonly generation: number;
  readonly looked: number;
  readonly byRun: ReadonlyMap<string, RunFacts>;
}

interface GrowingLog {
  readonly generation: number;
  readonly count: number;
  readonly entries: readonly { readonly envelope: Envelope }[];
}

const NOTHING: RunFacts = { entries: 0, usage: undefined, error: undefined, asked: undefined };

/** Looks at what is new only: a log grows with every token. */
export function indexRuns(before: RunIndex | undefined, log: GrowingLog): RunIndex {
  const goesOn = before?.generation === log.generation && before.looked <= log.count;
  if (goesOn && before.looked === log.count) return before;
  const byRun = new Map(goesOn ? before.byRun : undefined);
  for (let at = goesOn ? before.looked : 0; at < log.count; at += 1) {
    const envelope = log.entries[at]?.envelope;
    if (envelope) byRun.set(envelope.run_id, learn(byRun.get(envelope.run_id) ?? NOTHING, envelope));
  }
  return { generation: log.generation, looked: log.count, byRun };
}

function learn(facts: RunFacts, envelope: Envelope): RunFacts {
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
 * `costUsd` is null where a run was not metered: half a sum would be taken for the whole. Of a run that was, and has calls
 * without a price, the sum holds what is known and is not complete.
 */
export function sumUsage(usages: readonly UsageView[]): UsageView {
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

function addCost(sum: number | null, { costUsd, isComplete }: UsageView): number | null {
  if (sum === null || (costUsd === null && isComplete)) return null;
  return sum + (costUsd ?? 0);
}

export interface ThreadRuns extends Resource<readonly Run[]> {
  /** What the log says of each. */
  readonly index: RunIndex;
}

/** The thread's runs, newest first, with what the log says of them. */
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
