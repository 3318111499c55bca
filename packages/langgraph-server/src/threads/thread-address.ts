import {
  type AgentCatalogPort,
  type Caller,
  deriveThreadId,
  type GraphDescriptor,
  type JsonObject,
  parseGraphId,
  ThroughlineError,
  toGraphId,
  toStateKey,
} from "@throughline/ai-core";
import type { StateKeys } from "@throughline/stream-adapter";
import type { RunRecord, ThreadRef } from "@throughline/thread-log";
import { z } from "zod";

/** A thread as the inside of the server knows it. Made from a caller and two names, never from an id a client sent. */
export interface ThreadAddress {
  readonly ref: ThreadRef;
  readonly graphId: string;
  /** The name that clients use; AG-UI's `threadId`. */
  readonly threadName: string;
  readonly stateKey: string;
}

/** The address of a run's thread. */
export function addressOf(
  { thread, graphId }: Pick<RunRecord, "thread" | "graphId">,
  stateKey: string,
): ThreadAddress {
  return { ref: thread, graphId, threadName: stateKey.slice(stateKey.indexOf("/") + 1), stateKey };
}

/** Throws `invalid_input` for a name no thread can have. */
export function threadAddress(
  caller: Pick<Caller, "billingAccountId" | "subject">,
  graphName: string,
  threadName: string,
): ThreadAddress {
  const { billingAccountId: account, subject } = caller;
  const scope = { account, ...(subject !== undefined && { subject }) };
  const threadId = deriveThreadId({ ...scope, graphName, threadName });
  return {
    ref: { ...scope, threadId },
    graphId: toGraphId(graphName),
    threadName: threadName.normalize("NFC"),
    stateKey: toStateKey(graphName, threadName),
  };
}

/** `private`: one person's. `account`: shared by all people of the account. */
export const visibilitySchema = z.enum(["private", "account"]);
export type Visibility = z.output<typeof visibilitySchema>;

/** Wherever a request names a thread. */
export const threadVisibilitySchema = visibilitySchema
  .optional()
  .describe("Whose thread is meant: the caller's own, or the account's. Default: `private` for a person.");

type Owner = Pick<Caller, "subject">;

/** The default visibility of a request: a caller with a subject means their own threads. */
export function visibilityOf({ subject }: Owner): Visibility {
  return subject === undefined ? "account" : "private";
}

/**
 * The caller as they act on threads of that visibility. In an account's thread they act for the account: its address is the one
 * that a caller without a subject has, and its runs find the account's memory and files, never the person's own.
 */
export function callerIn(caller: Caller, visibility: Visibility = visibilityOf(caller)): Caller {
  const { subject, ...account } = caller;
  if (visibility === "account") return account;
  if (subject !== undefined) return caller;
  throw new ThroughlineError(
    "invalid_input",
    "visibility: a caller without a subject has no private threads",
    {
      details: { field: "visibility" },
    },
  );
}

/** The agent of this name, `langgraph:chat` or plain `chat`; throws `not_found` with the names there are. */
export async function requireAgent(agents: AgentCatalogPort, id: string): Promise<GraphDescriptor> {
  const graphName = parseGraphId(id);
  const agent = graphName === undefined ? undefined : await agents.getAgent(toGraphId(graphName));
  if (agent) return agent;
  const available = (await agents.listAgents()).map((each) => each.graphName);
  throw new ThroughlineError(
    "not_found",
    `Unknown agent "${graphName ?? id}". Available: ${available.join(", ") || "none"}.`,
    { details: { agent: id, available } },
  );
}

/**
 * Keys that a JSON Schema allows. `undefined` when it names none, as that of a functional graph: then every key counts. A schema
 * with `additionalProperties: true` allows every key but those that its `patternProperties` refuse.
 */
export function schemaKeys(schema: JsonObject): StateKeys | undefined {
  const keys = Object.keys(objectOf(schema.properties));
  if (schema.additionalProperties !== true) return keys.length > 0 ? keys : undefined;
  const refused = Object.entries(objectOf(schema.patternProperties))
    .filter(([, allowed]) => allowed === false)
    .map(([pattern]) => new RegExp(pattern));
  return (key) => keys.includes(key) || refused.every((pattern) => !pattern.test(key));
}

/** Those of `keys` that a schema allows. */
export function allowedKeys(schema: JsonObject, keys: readonly string[]): readonly string[] {
  const allowed = schemaKeys(schema);
  if (allowed === undefined) return keys;
  return keys.filter(typeof allowed === "function" ? allowed : (key) => allowed.includes(key));
}

function objectOf(value: unknown): object {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}
