import {
  agentCommandSchema,
  type Caller,
  callerSchema,
  contextItemSchema,
  type Dialect,
  dialectSchema,
  frontendToolSchema,
  type Json,
  type JsonObject,
  jsonObjectSchema,
  type Message,
  profileSchema,
  runConfigSchema,
  subjectSchema,
} from "@throughline/ai-core";
import { z } from "zod";
import type { ThreadAddress } from "./thread-address.js";

/** The part of a run's row that a driver on any instance needs in order to execute it, in addition to the row's own columns. */
const runRequestSchema = z.object({
  /**
   * `foreign` follows a run that another client started (R5). `reconcile` runs no graph: it records a checkpoint that no run
   * of a graph made (R6, R31).
   */
  work: z.enum(["graph", "foreign", "reconcile"]),
  stateKey: z.string(),
  ingressRequestId: z.string(),
  /** Trace context of the request that started the run. */
  traceparent: z.string().optional(),
  caller: callerSchema,
  /** The person who started the run, also in a thread of the account. */
  person: subjectSchema.optional(),
  /** Absent: the graph's own. */
  model: z.string().optional(),
  config: runConfigSchema.optional(),
  tools: z.array(frontendToolSchema),
  context: z.array(contextItemSchema),
  command: agentCommandSchema.optional(),
  /** Its messages go to the graph whether or not the thread shows them. */
  isAgain: z.boolean().optional(),
  /** The checkpoint it went back to, so that it can be tried again. */
  checkpointId: z.string().optional(),
  profile: profileSchema,
  /** The same for all attempts. Default `modes`. */
  dialect: dialectSchema.optional(),
});
export type RunRequest = z.infer<typeof runRequestSchema>;

/** The request of a run that was not started here: its thread's own account sees it, and it is not billed. */
export function systemRunSpec(
  work: "foreign" | "reconcile",
  { ref, stateKey }: Pick<ThreadAddress, "ref" | "stateKey">,
  name: string,
  dialect?: Dialect,
): RunRequest {
  return {
    work,
    stateKey,
    ingressRequestId: name,
    caller: {
      billingAccountId: ref.account,
      ...(ref.subject !== undefined && { subject: ref.subject }),
      virtualKeyId: "none",
      traceId: name,
    },
    model: "none",
    tools: [],
    context: [],
    profile: "user",
    ...(dialect && { dialect }),
  };
}

/** The caller as model calls are charged: in a thread of the account, too, to the person who started the run. */
export function payerOf({ caller, person }: Pick<RunRequest, "caller" | "person">): Caller {
  return person === undefined ? caller : { ...caller, subject: person };
}

/** The person who started a run, if one of ours did. */
export function personOf(request: Pick<RunRequest, "work" | "caller" | "person">): string | undefined {
  return request.work === "graph" ? payerOf(request).subject : request.person;
}

/** The request as its row stores it: plain JSON. */
export function encodeRunSpec(request: RunRequest): JsonObject {
  return jsonObjectSchema.parse(JSON.parse(JSON.stringify(request)));
}

export type DecodedRunSpec =
  | { readonly ok: true; readonly value: RunRequest }
  | { readonly ok: false; readonly error: unknown };

/** A row may have been written by another version, or by hand. */
export function decodeRunSpec(row: JsonObject): DecodedRunSpec {
  const { data, error } = runRequestSchema.safeParse(row);
  return data ? { ok: true, value: data } : { ok: false, error };
}

/** The input that a client sent, before it is compared with the thread. */
export type RunInput =
  /**
   * The client's whole history and state. R26: only messages the thread does not hold go to the graph, and of `state` only
   * keys of the graph's input schema; a changed text under a known id is `invalid_input`.
   */
  | {
      readonly kind: "input";
      readonly messages: readonly Message[];
      readonly state?: JsonObject;
      /** They were sent before and stored nowhere, though the thread may show them: all of them go to the graph. */
      readonly isAgain?: boolean;
    }
  /** Responses by interrupt id. None at all: repeats an interrupt whose response failed, or continues past a breakpoint. */
  | { readonly kind: "resume"; readonly answers: Readonly<Record<string, Json>> }
  /** The legacy form, which names no interrupt: it responds to the open one. */
  | { readonly kind: "answer"; readonly value: Json }
  /** Runs again from a checkpoint of the past, with these messages added to it. */
  | { readonly kind: "fork"; readonly checkpointId: string; readonly messages: readonly Message[] };
/**
 * CopilotKit sends a response under the id of the run that interrupted. That id is in use, so the response's run has an id of
 * its own, derived from the client's; on the wire it is the client's again.
 */
const OF_ANSWER = /#answer-[0-9a-f-]{36}$/;

export function resumeAlias(clientRunId: string, runId: string): string {
  return `${clientRunId}#answer-${runId}`;
}

/** The client's id of the run. */
export function clientRunIdOf(alias: string): string {
  return alias.replace(OF_ANSWER, "");
}
