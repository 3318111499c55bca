import { v5 as uuidv5 } from "uuid";
import { z } from "zod";
import { invalidInput } from "../errors/throughline-error.js";
import { accountIdSchema, isPrintable, PRINTABLE_PATTERN, subjectSchema } from "./account.js";
import { graphNameSchema } from "./graph-id.js";

/** Fixed for ever: another value would orphan every thread there is. */
export const THREAD_NAMESPACE = "5b0d5c0e-8f0a-5b7e-9a53-0c1a6f2d7e41";

const MAX_NAME_CHARACTERS = 256;

/** What a client calls its thread. Canonically equal spellings are one name, so it is normalised before it is measured. */
export const threadNameSchema = z
  .string()
  .refine(isPrintable, "threadName must be well-formed text without control characters")
  .transform((name) => name.normalize("NFC"))
  .refine((name) => {
    const characters = [...name].length;
    return characters >= 1 && characters <= MAX_NAME_CHARACTERS;
  }, `threadName must be 1–${MAX_NAME_CHARACTERS} characters long`)
  // JSON Schema sees no refinement.
  .meta({ type: "string", minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: PRINTABLE_PATTERN });

export const threadKeySchema = z.object({
  account: accountIdSchema,
  subject: subjectSchema.optional(),
  graphName: graphNameSchema,
  threadName: threadNameSchema,
});
export type ThreadKey = z.input<typeof threadKeySchema>;

/** `{graphName}/{threadName}`: a graph's name holds no `/`, so the first one separates. */
export function toStateKey(graphName: string, threadName: string): string {
  return `${graphNameSchema.parse(graphName)}/${threadNameSchema.parse(threadName)}`;
}

/**
 * `{account}:{stateKey}`, or `{account}:@{subject}/{stateKey}` for a private thread. Injective: an account holds no `:`, a
 * state key never starts with `@`, and an encoded subject holds no `/`.
 */
export function threadPreimage(key: ThreadKey): string {
  const parsed = threadKeySchema.safeParse(key);
  if (!parsed.success) throw invalidInput(parsed.error, "thread");
  const { account, subject, graphName, threadName } = parsed.data;
  const owner = subject === undefined ? "" : `@${encodeURIComponent(subject)}/`;
  return `${account}:${owner}${graphName}/${threadName}`;
}

/** THREAD_ID_TENANT_SCOPED (docs/requirements.md#server-6): the privacy boundary. Never accepted from a client. */
export function deriveThreadId(key: ThreadKey): string {
  return uuidv5(threadPreimage(key), THREAD_NAMESPACE);
}
