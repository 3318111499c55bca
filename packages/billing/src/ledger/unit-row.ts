import { EXECUTOR_TYPES } from "@throughline/ai-core";
import { z } from "zod";
import { EVIDENCES, type NewUnit, type ResponseUsage, UNIT_STATES, type UsageUnit } from "./ledger.js";

/** PostgreSQL's bigint and numeric come as text. */
export const wholeNumber = z.union([z.string(), z.number()]).transform(Number);
export const amount = z.string().transform((text) => BigInt(text));

const rowSchema = z.object({
  unit_id: z.string(),
  run_id: z.string(),
  attempt: z.number(),
  ordinal: z.number(),
  account: z.string(),
  subject: z.string(),
  virtual_key_id: z.string(),
  key_hash: z.string(),
  request_id: z.string(),
  trace_id: z.string(),
  thread_id: z.string(),
  graph_id: z.string(),
  executor_type: z.enum(EXECUTOR_TYPES),
  model: z.string().nullable(),
  opened_at: z.date(),
  state: z.enum(UNIT_STATES),
  reason: z.string().nullable(),
  doubted_at: z.date().nullable(),
  served_model: z.string().nullable(),
  response_id: z.string().nullable(),
  input_tokens: wholeNumber,
  output_tokens: wholeNumber,
  retries: z.number(),
  fallbacks: z.number(),
  evidence: z.enum(EVIDENCES).nullable(),
  billed_pico: amount.nullable(),
});

export const UNIT_COLUMNS = Object.keys(rowSchema.shape).join(", ");

export function readUnit(row: unknown): UsageUnit {
  const read = rowSchema.parse(row);
  return {
    unitId: read.unit_id,
    runId: read.run_id,
    attempt: read.attempt,
    ordinal: read.ordinal,
    account: read.account,
    subject: read.subject === "" ? undefined : read.subject,
    virtualKeyId: read.virtual_key_id,
    keyHash: read.key_hash,
    requestId: read.request_id,
    traceId: read.trace_id,
    threadId: read.thread_id,
    graphId: read.graph_id,
    executorType: read.executor_type,
    model: read.model,
    openedAt: read.opened_at.getTime(),
    state: read.state,
    reason: read.reason,
    doubtedAt: read.doubted_at?.getTime() ?? null,
    seen: {
      servedModel: read.served_model,
      responseId: read.response_id,
      inputTokens: read.input_tokens,
      outputTokens: read.output_tokens,
      retries: read.retries,
      fallbacks: read.fallbacks,
    },
    evidence: read.evidence,
    billed: read.billed_pico,
  };
}

/** Parameters of `openUnit`, in its order. */
export function unitValues(unit: NewUnit): readonly unknown[] {
  return [
    unit.unitId,
    unit.runId,
    unit.attempt,
    unit.ordinal,
    unit.account,
    unit.subject ?? "",
    unit.virtualKeyId,
    unit.keyHash,
    unit.requestId,
    unit.traceId,
    unit.threadId,
    unit.graphId,
    unit.executorType,
    unit.model,
  ];
}

/** Parameters of the statements that write a response, in their order. */
export function seenValues(seen: ResponseUsage): readonly unknown[] {
  return [
    seen.servedModel,
    seen.responseId,
    seen.inputTokens,
    seen.outputTokens,
    seen.retries,
    seen.fallbacks,
  ];
}
