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

/** What a driver on any instance needs in order to run a row of the registry, beside what the row itself says. */
const runRequestSchema = z.object({
  /**
   * `foreign` follows a run that an outsider started (R5). `reconcile` runs no graph: it writes down what a checkpoint says
   * that no run of a graph made (R6, R31).
   */
  work: z.enum(["graph", "foreign", "reconcile"]),
  stateKey: z.string(),
  ingressRequestId: z.string(),
  /** Of the request that asked for the run. */
  traceparent: z.string().optional(),
  caller: callerSchema,
  /** Who asked, also in a thread of the account. */
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
  /** Of all attempts alike. Default `modes`. */
  dialect: dialectSchema.optional(),
});
export type RunRequest = z.infer<typeof runRequestSchema>;

/** Of a run that was not asked for here: its thread's own account sees it, and it is not billed. */
export function emptyRequest(
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

/** The caller as model calls are charged: in a thread of the account, too, to the person who asked. */
export function payerOf({ caller, person }: Pick<RunRequest, "caller" | "person">): Caller {
  return person === undefined ? caller : { ...caller, subject: person };
}

/** Who asked for a run, where that was a person of ours. */
export function personOf(request: Pick<RunRequest, "work" | "caller" | "person">): string | undefined {
  return request.work === "graph" ? payerOf(request).subject : request.person;
}

/** As the row keeps it: plain JSON. */
export function toRunRow(request: RunRequest): JsonObject {
  return jsonObjectSchema.parse(JSON.parse(JSON.stringify(request)));
}

export type ParsedRunRow =
  | { readonly ok: true; readonly value: RunRequest }
  | { readonly ok: false; readonly error: unknown };

/** A row may have been written by another version, or by hand. */
export function parseRunRow(row: JsonObject): ParsedRunRow {
  const { data, error } = runRequestSchema.safeParse(row);
  return data ? { ok: true, value: data } : { ok: false, error };
}

/** What a client sent, before it is measured against what the thread holds. */
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
  /** Answers by interrupt id. None at all: asks again what an answer made fail, or goes on past a breakpoint. */
  | { readonly kind: "resume"; readonly answers: Readonly<Record<string, Json>> }
  /** The legacy form, which names no interrupt: it answers the one that is open. */
  | { readonly kind: "answer"; readonly value: Json }
  /** Runs again from a checkpoint of the past, with these messages added to it. */
  | { readonly kind: "fork"; readonly checkpointId: string; readonly messages: readonly Message[] };
/**
 * CopilotKit answers a question under the id of the run that asked it. That id is taken, so the answer's run has one of its own
 * behind the client's; on the wire it is the client's again.
 */
const OF_ANSWER = /#answer-[0-9a-f-]{36}$/;

export function answerAlias(clientRunId: string, runId: string): string {
  return `${clientRunId}#answer-${runId}`;
}

/** What the client calls the run. */
export function clientRunIdOf(alias: string): string {
  return alias.replace(OF_ANSWER, "");
}
