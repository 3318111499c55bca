import { z } from "zod";
import { executorTypeSchema } from "../usage/usage.js";

/** Without control characters: PostgreSQL stores no NUL, and a log that can't be stored is not read any further. */
const id = z.string().regex(/^[^\p{Cc}]{1,256}$/u);
/** In lower case, as PostgreSQL gives it back: another spelling would be another call id to LiteLLM. */
const unitId = z.string().regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);

/**
 * What a model call carries to LiteLLM as `x-litellm-spend-logs-metadata`, and what its logs give back. Ids only: they are
 * stored there in the clear. In a log they are a claim.
 */
export const callLabelsSchema = z.object({
  accountId: id,
  virtualKeyId: id,
  runId: id,
  attempt: z.number().int().nonnegative(),
  /** A uuid of ours, also sent as the call id: one per HTTP request. */
  usageUnitId: unitId,
  threadId: id,
  requestId: id,
  traceId: id,
  executorType: executorTypeSchema,
});
export type CallLabels = z.infer<typeof callLabelsSchema>;

/** What of its labels is known. A run that others started has no account of ours. */
export const knownLabelsSchema = callLabelsSchema.partial();
export type KnownLabels = Readonly<z.infer<typeof knownLabelsSchema>>;
