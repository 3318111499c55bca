import {
  aiEventSchema,
  ERROR_CODES,
  type ErrorCode,
  envelopeSchema,
  httpStatusOf,
  interruptSchema,
  type Json,
  type JsonObject,
  jsonSchema,
  messageSchema,
} from "@throughline/ai-core";
import { z } from "zod";
import { newCronSchema } from "../../crons/cron-definition.js";
import type { JsonSchema, OpenApiResponse, Reference } from "../openapi-shape.js";
import { errorBodySchema } from "../request.js";
import type { OpenRoute, Route } from "../route.js";
import { agUiEventSchema } from "../stream-schemas.js";
import { shownAuditEntrySchema } from "./account-access.js";
import { receiptSchema } from "./account-data.js";
import { agUiMessageSchema } from "./ag-ui-input.js";
import { runAgentInputSchema } from "./ag-ui-schema.js";
import { shownAgentSchema } from "./agents.js";
import { shownAttachmentSchema } from "./attachments.js";
import { shownBudgetSchema, shownBudgetStateSchema } from "./budgets.js";
import { shownCronSchema, shownTickSchema } from "./crons.js";
import { runRequestSchema } from "./runs.js";
import {
  shownCheckpointSchema,
  shownRunSchema,
  shownStateSchema,
  shownThreadSchema,
} from "./thread-schemas.js";
import {
  shownStatementSchema,
  shownUnbilledRunSchema,
  shownUnitSchema,
  shownUsageRowSchema,
} from "./usage-schemas.js";

export interface SchemaBook {
  /** The named schemas, for the document's components. */
  readonly named: Readonly<Record<string, JsonSchema>>;
  /** Returns the JSON Schema of any schema in the book: a reference where it has a name, else the schema itself. */
  schemaOf(schema: z.ZodType): JsonSchema;
}

const PREFIX = "#/components/schemas/";

/**
 * Converts zod's schemas to JSON Schema, all at once so that they can name each other. `input` is what a client may send,
 * before defaults and transforms; `output` is what it gets, which may hold more one day and so is never closed.
 */
export function schemaBook(
  io: "input" | "output",
  named: Readonly<Record<string, z.ZodType>>,
  others: readonly z.ZodType[],
): SchemaBook {
  const ids = new Map<z.ZodType, string>(Object.entries(named).map(([name, schema]) => [schema, name]));
  for (const schema of others) if (!ids.has(schema)) ids.set(schema, `unnamed ${ids.size}`);
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of ids) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => `${PREFIX}${id}`,
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      if (io === "output" && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
      // A `catch` schema refuses nothing, so any value may be sent.
      if (io === "input" && zodSchema._zod.def.type === "catch") {
        for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
      }
      // Every key of JSON is a string.
      if (Object.keys(jsonSchema.propertyNames ?? {}).join() === "type") delete jsonSchema.propertyNames;
    },
  });
  if ("__shared" in schemas) throw new Error("A schema that holds itself needs a name in the document.");
  // Zod returns JSON, which its types do not express.
  const converted = JSON.parse(JSON.stringify(schemas)) as Readonly<Record<string, JsonObject>>;

  function schemaWithout(id: string): JsonSchema {
    const { $schema: _, $id: __, ...schema } = converted[id] ?? {};
    return inlined(schema);
  }

  /** Replaces references to unnamed schemas by the schemas themselves. */
  function inlined(schema: JsonObject): JsonObject {
    const { $ref, ...rest } = schema;
    if (typeof $ref === "string" && !Object.hasOwn(named, $ref.slice(PREFIX.length))) {
      return { ...schemaWithout($ref.slice(PREFIX.length)), ...inlined(rest) };
    }
    return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, inlinedValue(value)]));
  }

  function inlinedValue(value: Json): Json {
    if (Array.isArray(value)) return value.map(inlinedValue);
    return typeof value === "object" && value !== null ? inlined(value) : value;
  }

  return {
    named: Object.fromEntries(Object.keys(named).map((name) => [name, schemaWithout(name)])),
    schemaOf(schema) {
      const id = ids.get(schema) ?? "";
      return Object.hasOwn(named, id) ? { $ref: `${PREFIX}${id}` } : schemaWithout(id);
    },
  };
}

type Named = Readonly<Record<string, z.ZodType>>;

/** The schemas that have a name in the document. A recursive schema needs one. */
export const SHARED_INPUTS: Named = {
  Json: jsonSchema,
  RunAgentInput: runAgentInputSchema,
  AgUiMessage: agUiMessageSchema,
  RunRequest: runRequestSchema,
  NewCron: newCronSchema,
};

export const SHARED_ANSWERS: Named = {
  Json: jsonSchema,
  Error: errorBodySchema,
  Agent: shownAgentSchema,
  AgUiEvent: agUiEventSchema,
  AiEvent: aiEventSchema,
  Envelope: envelopeSchema,
  Message: messageSchema,
  Interrupt: interruptSchema,
  Thread: shownThreadSchema,
  ThreadState: shownStateSchema,
  Checkpoint: shownCheckpointSchema,
  Run: shownRunSchema,
  Cron: shownCronSchema,
  CronTick: shownTickSchema,
  Attachment: shownAttachmentSchema,
  DeletionReceipt: receiptSchema,
  AuditEntry: shownAuditEntrySchema,
  UsageRow: shownUsageRowSchema,
  Statement: shownStatementSchema,
  UsageUnit: shownUnitSchema,
  UnbilledRun: shownUnbilledRunSchema,
  Budget: shownBudgetSchema,
  BudgetState: shownBudgetStateSchema,
};

/** Headers of every response, refusals included. */
export const TRACE_HEADERS = {
  "x-request-id": { $ref: "#/components/headers/RequestId" },
  traceparent: { $ref: "#/components/headers/Traceparent" },
} as const satisfies Readonly<Record<string, Reference>>;

const MORE_HEADERS: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, Reference>>>>> = {
  unauthorized: { "www-authenticate": { $ref: "#/components/headers/Authenticate" } },
  busy: { "retry-after": { $ref: "#/components/headers/RetryAfter" } },
  rate_limited: { "retry-after": { $ref: "#/components/headers/RetryAfter" } },
};

/** Returns a route's error codes: its own refusals and those that follow from its parameters and body. */
export function errorCodesOf({
  path,
  doc,
  isOpen,
}: Pick<Route | OpenRoute, "path" | "doc" | "isOpen">): ErrorCode[] {
  const takesBody = doc.body !== undefined || doc.file !== undefined;
  // Any request may be malformed or have headers that are too long.
  const codes = new Set<ErrorCode>([
    "invalid_input",
    "too_large",
    ...(isOpen ? [] : (["unauthorized", "forbidden"] as const)),
    ...(takesBody ? (["rate_limited"] as const) : []),
    ...(path.includes("/:agentId") ? (["not_found", "upstream_unavailable"] as const) : []),
    ...doc.errors,
    "internal",
    "shutting_down",
  ]);
  return [...codes];
}

/** Groups error responses by status, since two codes may share one. */
export function errorResponses(
  codes: readonly ErrorCode[],
): Readonly<Record<string, OpenApiResponse | Reference>> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const status = httpStatusOf(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries([...byStatus].map(([status, shared]) => [status, responseOf(shared)]));
}

function responseOf(codes: readonly ErrorCode[]): OpenApiResponse | Reference {
  const [only, ...others] = codes;
  return only !== undefined && others.length === 0
    ? { $ref: `#/components/responses/${only}` }
    : errorResponse(codes);
}

export function errorResponse(codes: readonly ErrorCode[]): OpenApiResponse {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].hint}`).join(" "),
    headers: Object.assign({}, TRACE_HEADERS, ...codes.map((code) => MORE_HEADERS[code])),
    content: { "application/json": { schema: errorSchema(codes) } },
  };
}

function errorSchema(codes: readonly ErrorCode[]): JsonSchema {
  const code = { enum: [...codes] };
  return { allOf: [{ $ref: "#/components/schemas/Error" }, { properties: { code } }] };
}
