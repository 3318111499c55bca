import { z } from "zod";

/** What a test makes happen in a guarded process. */
export const guardedStepSchema = z.enum([
  "reject in a run",
  "throw in a run",
  "reject",
  "throw",
  "write",
  "hand over",
  "fail to hand over",
  "end",
]);
export type GuardedStep = z.infer<typeof guardedStepSchema>;

/** What the process tells its parent. */
export const guardedNewsSchema = z.union([
  z.object({ log: z.object({ level: z.number(), msg: z.string() }) }),
  z.object({ attributed: z.boolean() }),
  z.object({ did: guardedStepSchema }),
  z.object({ handingOver: z.literal(true) }),
]);
export type GuardedNews = z.infer<typeof guardedNewsSchema>;
