import { z } from "zod";
import { errorClassSchema, errorCodeSchema } from "../errors/throughline-error.js";
import { jsonObjectSchema, jsonSchema } from "../json/json.js";
import { contentPartSchema, messageRoleSchema, messageSchema } from "../messages/message.js";
import { tokenUsageSchema } from "../usage/usage.js";
import { ENVELOPE_TYPES, type EnvelopeType } from "./envelope-types.js";

export const runOriginSchema = z.object({
  /** `client`: a person's request; `cron`: a schedule; `foreign`: another client of the upstream server. */
  kind: z.enum(["client", "cron", "foreign"]),
  id: z.string().optional(),
});

export const patchOperationSchema = z.discriminatedUnion("op", [
  z.object({ op: z.literal("add"), path: z.string(), value: jsonSchema }),
  z.object({ op: z.literal("replace"), path: z.string(), value: jsonSchema }),
  z.object({ op: z.literal("remove"), path: z.string() }),
]);
/** The part of RFC 6902 that deltas use. */
export type PatchOperation = z.infer<typeof patchOperationSchema>;

export const interruptSchema = z.object({
  interrupt_id: z.string(),
  value: jsonSchema,
  /** JSON Schema of the response, where the graph gave one next to the value. */
  response_schema: jsonObjectSchema.optional(),
  node: z.string().nullable(),
  /** Task path of the interrupted node; the deepest one when an interrupt surfaces at several levels. */
  ns: z.array(z.string()),
});
export type Interrupt = z.infer<typeof interruptSchema>;

export const CALL_STATUSES = ["ok", "error", "interrupted", "cancelled"] as const;
const callStatusSchema = z.enum(CALL_STATUSES);
export type CallStatus = z.infer<typeof callStatusSchema>;

export const RUN_STATUSES = ["success", "interrupted", "cancelled", "error"] as const;
export const runStatusSchema = z.enum(RUN_STATUSES);
export type RunStatus = z.infer<typeof runStatusSchema>;

const ownErrorSchema = z.object({ name: z.string(), message: z.string(), stack: z.string().optional() });
/** A graph's own error: it may contain a key, a prompt or a path. */
export type OwnError = z.infer<typeof ownErrorSchema>;

/** Payload of each envelope type. Snake case on the wire, as the envelope itself. */
export const PAYLOADS = {
  run_start: z.object({
    graph_id: z.string(),
    /** The client's own run id, by which it finds the run on its stream. */
    client_run_id: z.string().optional(),
    input: z.object({ messages: z.array(messageSchema), state: jsonObjectSchema.optional() }),
    /** R28: ids of the interrupts that this run responds to, so that other tabs drop their cards. */
    answers: z.array(z.string()),
    /** The responses, by interrupt id. */
    given: z.record(z.string(), jsonSchema).optional(),
    started_by: runOriginSchema.extend({
      /** The person who requested the run, where it was one. */
      person: z.string().optional(),
    }),
    /** Messages after the checkpoint that the run rewinds to: the `retract` that follows withdraws them. */
    went_back: z.array(z.string()).optional(),
    /** R31: the run was not observed; only its boundaries and outcome are known. */
    coarse: z.boolean().optional(),
  }),
  run_end: z.object({
    status: runStatusSchema,
    error: z
      .object({
        code: errorCodeSchema,
        /** Our message, or, where the service shows those, the graph's own. */
        message: z.string(),
        class: errorClassSchema.optional(),
        /** The node that threw, and its task path. */
        node: z.string().nullable().optional(),
        ns: z.array(z.string()).optional(),
        /** The graph's own error, only where the service shows those. */
        own: ownErrorSchema.optional(),
      })
      .optional(),
    coarse: z.boolean().optional(),
  }),
  step_start: z.object({ node: z.string(), step: z.number().int().nullable() }),
  step_end: z.object({
    node: z.string(),
    status: callStatusSchema,
    /** The class of the error, on the node that threw. Nodes around it end as `error` too, without a class. */
    class: errorClassSchema.optional(),
  }),
  llm_start: z.object({
    message_id: z.string(),
    model: z.string().nullable(),
    params: jsonObjectSchema,
    node: z.string().nullable(),
    step: z.number().int().nullable(),
    /** No model wrote this message: a node returned the whole message. */
    synthetic: z.boolean().optional(),
    role: messageRoleSchema.optional(),
    /** The call of the subagent this message belongs to; absent when it belongs to the conversation itself. */
    subagent_id: z.string().optional(),
  }),
  llm_token: z.object({
    message_id: z.string(),
    text: z.string().optional(),
    /** Media after the message's text so far: by URL, never bytes. */
    part: contentPartSchema.optional(),
    reasoning: z.string().optional(),
    tool_call: z
      .object({
        index: z.number().int().nonnegative(),
        id: z.string().optional(),
        name: z.string().optional(),
        args: z.string().optional(),
      })
      .optional(),
    /** Natural logarithm of the probability of the text that this entry adds. */
    logprob: z.number().optional(),
  }),
  llm_end: z.object({
    message_id: z.string(),
    usage: tokenUsageSchema.nullable(),
    finish_reason: z.string().nullable(),
    model: z.string().nullable(),
    status: callStatusSchema,
  }),
  tool_start: z.object({
    tool_name: z.string(),
    kind: z.enum(["tool", "subgraph"]),
    node: z.string().nullable(),
    args: jsonSchema.optional(),
    /** The input of a subgraph: its messages and the rest of its state, or, if that is long, the beginning of it as text. */
    input: jsonSchema.optional(),
    /** For a subgraph that a tool runs (a subagent): that tool's call. */
    tool_call_id: z.string().optional(),
    subagent_id: z.string().optional(),
  }),
  tool_update: z.object({ tool_name: z.string(), data: jsonSchema }),
  tool_end: z.object({
    tool_name: z.string(),
    kind: z.enum(["tool", "subgraph"]),
    /**
     * A subgraph's result is always `{ messages, files, usage }`: new messages, names of files. `output` holds further keys that
     * the graph publishes, and `omitted` counts the items left out for size.
     */
    result: jsonSchema,
    status: callStatusSchema,
    /** The tool message that carries the result back to the model, once the graph has made one. */
    message_id: z.string().optional(),
    subagent_id: z.string().optional(),
  }),
  subgraph_checkpoint: z.object({
    checkpoint_id: z.string(),
    node: z.string().nullable(),
    state_digest: z.string(),
    step: z.number().int().nullable(),
  }),
  /** `checkpoint_id`: the last one that was logged before the subgraph was suspended. */
  subgraph_resume: z.object({ checkpoint_id: z.string().nullable(), node: z.string().nullable() }),
  state_snapshot: z.object({
    /** Absent: the log's state is already right. */
    state: jsonObjectSchema.optional(),
    /** The whole conversation, where changes would not suffice. */
    messages: z.array(messageSchema).optional(),
    /**
     * Messages that are new or were rewritten, each after the message that `after` names; `null`: at the beginning.
     * Applied in order. All others are unchanged.
     */
    changed_messages: z.array(z.object({ after: z.string().nullable(), message: messageSchema })).optional(),
    /** R6: present on an authoritative snapshot, which has the contents of the checkpoint. */
    checkpoint_id: z.string().optional(),
  }),
  state_delta: z.object({ ops: z.array(patchOperationSchema) }),
  interrupt: interruptSchema,
  usage: tokenUsageSchema.extend({
    model: z.string().nullable(),
    model_calls: z.number().int().nonnegative(),
    cost_usd: z.number().nonnegative().nullable(),
    /** `false` while the price of a call is not known; absent where nothing is metered. */
    complete: z.boolean().optional(),
    /** The calls that billing has recorded of the run, oldest first; absent where there is none. */
    calls: z
      .array(
        z.object({
          usage_unit_id: z.string(),
          model: z.string().nullable(),
          input_tokens: z.number().int().nonnegative(),
          output_tokens: z.number().int().nonnegative(),
          /** `null` while its price is not known. */
          cost_usd: z.number().nonnegative().nullable(),
        }),
      )
      .optional(),
  }),
  retract: z.object({ message_ids: z.array(z.string()), call_ids: z.array(z.string()), reason: z.string() }),
  custom: z.object({ name: z.string(), value: jsonSchema }),
  warning: z.object({ code: z.string(), message: z.string() }),
  error: z.object({
    /** `Error`, and a message of ours, unless the service shows the graph's own. */
    name: z.string(),
    message: z.string(),
    class: errorClassSchema,
    /** The node that threw. */
    node: z.string().nullable(),
    /** Its task path. */
    ns: z.array(z.string()).optional(),
    /** Only where the service shows the graph's own errors. */
    stack: z.string().optional(),
  }),
} as const satisfies Record<EnvelopeType, z.ZodType>;

export const envelopeBaseSchema = z.object({
  /** Seconds since the Unix epoch, with fractions. For people: order comes from the log alone. */
  ts: z.number(),
  trace_id: z.string().min(1),
  run_id: z.string().min(1),
  thread_id: z.string().min(1),
  attempt: z.number().int().nonnegative(),
  parent_id: z.string().nullable(),
  /** R7: derived, never random, so that a retry or a replay of the same call has the same id. */
  call_id: z.string().min(1),
  /** Counts up from 1 within a `call_id`. */
  seq: z.number().int().positive(),
  origin: z.enum(["live", "replay"]),
  agent: z.string(),
  /** The number of log entries that compaction merged into this one. Absent: it was not merged. */
  merged: z.number().int().min(2).optional(),
});

export type EnvelopeBase = z.infer<typeof envelopeBaseSchema>;
export type PayloadOf<T extends EnvelopeType> = z.infer<(typeof PAYLOADS)[T]>;
export type EnvelopeOf<T extends EnvelopeType> = EnvelopeBase & {
  readonly type: T;
  readonly payload: PayloadOf<T>;
};

/** An entry of the log: everything a person sees is derived from these. */
export type Envelope = { [T in EnvelopeType]: EnvelopeOf<T> }[EnvelopeType];

const [firstType, ...otherTypes] = ENVELOPE_TYPES.map((type) =>
  envelopeBaseSchema.extend({ type: z.literal(type), payload: PAYLOADS[type] }),
);
if (!firstType) throw new Error("PAYLOADS is empty");

// A mapped list loses the pairing of type and payload, which `Envelope` states; the round-trip test holds the two together.
export const envelopeSchema = z.discriminatedUnion("type", [
  firstType,
  ...otherTypes,
]) as unknown as z.ZodType<Envelope>;

/** Renders the envelope's JSON Schema, stored in `docs/` for readers in other languages. */
export function renderEnvelopeJsonSchema(): string {
  const document = z.toJSONSchema(envelopeSchema, {
    target: "draft-2020-12",
    unrepresentable: "any",
    reused: "ref",
  });
  return `${JSON.stringify({ title: "Throughline envelope", ...document }, null, 2)}\n`;
}
