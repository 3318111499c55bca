import { z } from "zod";
import { accountIdSchema, subjectSchema } from "../ids.js";

/** The authenticated sender of a request. Created by an auth resolver from a request, never from a request's body. */
export const callerSchema = z.object({
  billingAccountId: accountIdSchema,
  /** A user inside the account; part of every storage key when present, so private threads stay private. */
  subject: subjectSchema.optional(),
  virtualKeyId: z.string().min(1),
  traceId: z.string().min(1),
});
export type Caller = z.infer<typeof callerSchema>;

/**
 * The profile of a run's stream. `user` gathers tokens, sends the last tool update of a window and replaces a graph's error
 * texts by ours; `debug` does none of the three. Neither shows a prompt.
 */
export const profileSchema = z.enum(["user", "debug"]);
export type Profile = z.infer<typeof profileSchema>;

/** The kind of LangGraph stream a run is read from: its stream modes, or the events of `streamEvents` v2. */
export const dialectSchema = z.enum(["modes", "events"]);
export type Dialect = z.infer<typeof dialectSchema>;

/** Identifies a run on every hop: logs, spans, model calls, envelopes. */
export const runContextSchema = z.object({
  runId: z.string().min(1),
  attempt: z.number().int().nonnegative(),
  threadId: z.string().min(1),
  graphId: z.string().min(1),
  ingressRequestId: z.string().min(1),
  caller: callerSchema,
  profile: profileSchema,
});
export type RunContext = z.infer<typeof runContextSchema>;
