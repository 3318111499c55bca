import { createHash } from "node:crypto";
import { type ErrorCode, isErrorCode, type Json } from "@throughline/ai-core";
import type { ThreadRef } from "@throughline/thread-log";
import { z } from "zod";
import { type Action, isAction, roleSchema } from "./actions.js";

/** The target of an action, by the ids in our responses. */
const targetSchema = z.object({
  agentId: z.string().optional(),
  /** SHA-256 of the thread's id, as in a deletion's receipt. */
  threadHash: z.string().optional(),
  /** Taken out when the thread is deleted. */
  threadName: z.string().optional(),
  visibility: z.enum(["private", "account"]).optional(),
  runId: z.string().optional(),
  interruptIds: z.array(z.string()).optional(),
  /** Names of the channels of a thread's state that were edited. */
  channels: z.array(z.string()).optional(),
  cronId: z.string().optional(),
  deletionId: z.string().optional(),
  /** The budget that was set; without limits where it was deleted. Removed when its person is deleted. */
  budget: z
    .object({
      subject: z.string().nullable(),
      day: z.string().nullable(),
      month: z.string().nullable(),
      softPercent: z.number().nullable(),
    })
    .optional(),
});
export type AuditTarget = z.output<typeof targetSchema>;

const codeSchema = z.string().refine((code): code is ErrorCode => isErrorCode(code));
const actionSchema = z.string().refine((name): name is Action => isAction(name));

/** The part of an entry that is stored as text, next to the columns that statements search. */
export const auditDetailsSchema = z.object({
  role: roleSchema,
  /** `done`: it was accepted. `refused`: the policy denied it. `failed`: it was allowed and did not succeed. */
  outcome: z.enum(["done", "refused", "failed"]),
  /** The reason of a refusal or failure. */
  code: codeSchema.optional(),
  /** The peer of the connection, which is the proxy where there is one. */
  address: z.string().optional(),
  requestId: z.string(),
  /** Method and path, with names for what the path holds. */
  route: z.string(),
  target: targetSchema,
  /** JSON text of a person's interrupt response, cut at `MAX_ANSWER_CHARACTERS`. The only content there is. */
  answer: z.string().optional(),
  /** Refusals of one kind within a moment are one entry. */
  times: z.number().int().min(1),
});
export type AuditDetails = z.output<typeof auditDetailsSchema>;

export interface NewAuditEntry extends AuditDetails {
  readonly id: string;
  readonly account: string;
  readonly subject: string | undefined;
  readonly action: Action;
  readonly thread: ThreadRef | undefined;
  /** The person of the account the entry is about: the deletion of their data redacts the entry. */
  readonly person?: string | undefined;
}

/** Stored: with when it happened, in milliseconds since the Unix epoch by the store's clock. */
export interface AuditEntry extends Omit<NewAuditEntry, "thread" | "person"> {
  readonly at: number;
}

/** Facts that a handler adds to the entry of its request. */
export interface AuditFacts {
  /** The account of the record, where a trusted service acts for another account than its own. */
  readonly account?: string;
  readonly thread?: {
    readonly ref: ThreadRef;
    readonly graphId: string;
    readonly threadName: string;
  };
  /** Whom it is about, where that is no thread. */
  readonly person?: string;
  readonly target?: AuditTarget;
  readonly answer?: Json;
  /** The failure of a request within its response stream. */
  readonly error?: unknown;
}

const MAX_ANSWER_CHARACTERS = 4_000;

export function truncatedResponse(answer: Json): string {
  const text = JSON.stringify(answer);
  return text.length <= MAX_ANSWER_CHARACTERS ? text : `${text.slice(0, MAX_ANSWER_CHARACTERS)}…`;
}

export function targetOf({ thread, target }: Pick<AuditFacts, "thread" | "target">): AuditTarget {
  if (!thread) return { ...target };
  return {
    agentId: thread.graphId,
    threadHash: createHash("sha256").update(thread.ref.threadId).digest("hex"),
    threadName: thread.threadName,
    visibility: thread.ref.subject === undefined ? "account" : "private",
    ...target,
  };
}

/** Removes names and text from the details of an entry about deleted data: actor, action and time remain. */
export function withoutContent<Details extends AuditDetails>(details: Details): Omit<Details, "answer"> {
  const { answer: _, ...rest } = details;
  const { threadName: __, budget: ___, ...target } = details.target;
  return { ...rest, target };
}

/** `undefined` where a row was written by another version, or by hand, and can't be read. */
export function parseDetails(action: string, text: string): (AuditDetails & { action: Action }) | undefined {
  try {
    const read = auditDetailsSchema.extend({ action: actionSchema }).safeParse({
      ...Object(JSON.parse(text)),
      action,
    });
    return read.data;
  } catch {
    return undefined;
  }
}
