import { v5 as uuidv5, v7 as uuidv7 } from "uuid";
import { z } from "zod";
import type { Clock } from "./clock.js";
import { invalidInput } from "./errors/throughline-error.js";

/** An account's name. It has no `:`, which separates it from the next part in a derivation. */
export const accountIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,128}$/, "An account's name must be 1–128 characters of A–Z, a–z, 0–9, _ and -");

/** `isPrintable` for JSON Schema, as far as every language's patterns go: half a surrogate pair is in none. */
export const PRINTABLE_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

const MAX_SUBJECT_LENGTH = 256;

/**
 * A person's subject. Identity providers put almost anything here (`auth0|…`, e-mail addresses), so only text that would break
 * a key is refused. Canonically equal spellings are one person, so it is normalised here, before it becomes part of a key.
 */
export const subjectSchema = z
  .string()
  .refine(isPrintable, "A subject must be well-formed text without control characters")
  .transform((subject) => subject.normalize("NFC"))
  .refine(
    ({ length }) => length >= 1 && length <= MAX_SUBJECT_LENGTH,
    `A subject must be 1–${MAX_SUBJECT_LENGTH} characters long`,
  )
  // JSON Schema sees no refinement.
  .meta({ type: "string", minLength: 1, maxLength: MAX_SUBJECT_LENGTH, pattern: PRINTABLE_PATTERN });

/** Whether a text has no control characters and no lone surrogates, whose UTF-8 bytes are all the same: names could collide. */
export function isPrintable(text: string): boolean {
  return !/[\p{Cc}\p{Cs}]/u.test(text);
}

/** Matches graph names of LangGraph projects, such as `reactAgent` and `support.v2`. No name is a path: none begins with a dot. */
const GRAPH_NAME = "[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}";

export const graphNameSchema = z
  .string()
  .regex(
    new RegExp(`^${GRAPH_NAME}$`),
    "graphName must be 1–64 characters of A–Z, a–z, 0–9, _, - and ., and not begin with a dot",
  );

/** A graph's id, or its plain name, as `parseGraphId` takes them. */
export const GRAPH_ID_PATTERN = new RegExp(`^(?:langgraph:)?${GRAPH_NAME}$`);

export const GRAPH_PROVIDER_ID = "langgraph";

/** STABLE_GRAPH_IDS (docs/requirements.md#dev-1): the agent's id is the same whether it runs in this process, on a dev server or hosted. */
export function toGraphId(graphName: string): string {
  return `${GRAPH_PROVIDER_ID}:${graphNameSchema.parse(graphName)}`;
}

/** Accepts `langgraph:chat` and plain `chat`; gives `undefined` for anything else. */
export function parseGraphId(graphId: string): string | undefined {
  const prefix = `${GRAPH_PROVIDER_ID}:`;
  const name = graphId.startsWith(prefix) ? graphId.slice(prefix.length) : graphId;
  return graphNameSchema.safeParse(name).success ? name : undefined;
}

/** Sorts by creation time, which keeps a run table's index local. Order of events comes from the log, never from this. */
export function newRunId(clock: Clock): string {
  return uuidv7({ msecs: clock.now() });
}

/** Fixed for ever: another value would orphan every thread there is. */
export const THREAD_NAMESPACE = "5b0d5c0e-8f0a-5b7e-9a53-0c1a6f2d7e41";

const MAX_NAME_CHARACTERS = 256;

/** The client's name of a thread. Canonically equal spellings are one name, so it is normalised before it is measured. */
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
