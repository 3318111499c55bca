import { createHash } from "node:crypto";
import { type ErrorCode, isErrorCode, type Json } from "@throughline/ai-core";
import type { ThreadRef } from "@throughline/thread-log";
import { z } from "zod";
import { type Action, isAction, roleSchema } from "./policy.js";

/** What was done to, by the ids that our answers give. */
const targetSchema = z.object({
  agentId: z.string().optional(),
  /** SHA-256 of the thread's id, as in a deletion's receipt. */
  threadHash: z.string().optional(),
  /** Taken out when the thread is deleted. */
  threadName: z.string().optional(),
  visibility: z.enum(["private", "account"]).optional(),
  runId: z.string().optional(),
  interruptIds: z.array(z.string()).optional(),
  /** Of a thread's state, by name: what was edited. */
  channels: z.array(z.string()).optional(),
  cronId: z.string().optional(),
  deletionId: z.string().optional(),
  /** As it was set; without limits where it was deleted. Taken out when its person is deleted. */
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

/** What is stored as text beside the columns that statements look for. */
export const auditDetailsSchema = z.object({
  role: roleSchema,
  /** `done`: it was accepted. `refused`: the policy said no. `failed`: it was allowed and did not come about. */
  outcome: z.enum(["done", "refused", "failed"]),
  /** Why not. */
  code: codeSchema.optional(),
  /** The other end of the connection, which behind a proxy is the proxy. */
  address: z.string().optional(),
  requestId: z.string(),
  /** Method and path, with names for what the path holds. */
  route: z.string(),
  target: targetSchema,
  /** JSON text of what a person answered, cut at `MAX_ANSWER_CHARACTERS`. The only content there is. */
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
  /** Of the account's people, whom it is about: with their data the entry loses its content. */
  readonly person?: string | undefined;
}

/** Stored: with when it happened, in milliseconds since the Unix epoch by the store's clock. */
export interface AuditEntry extends Omit<NewAuditEntry, "thread" | "person"> {
  readonly at: number;
}

/** What a handler adds to the entry of its request. */
export interface AuditFacts {
  /** Whose record it belongs in, where a trusted service acts for another account than its own. */
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
  /** Of a request that was answered with a stream in which it failed. */
  readonly error?: unknown;
}

const MAX_ANSWER_CHARACTERS = 4_000;

export function boundedAnswer(answer: Json): string {
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

/** As it is kept of something that was deleted: who did what and when, but no name and no words. */
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
