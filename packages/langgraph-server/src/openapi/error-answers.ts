import { ERROR_CODES, type ErrorCode, httpStatusOf } from "@throughline/ai-core";
import type { OpenRoute, Route } from "../http/route-table.js";
import type { JsonSchema, OpenApiResponse, Reference } from "./openapi-shape.js";

/** On every answer, refusals included. */
export const TRACE_HEADERS = {
  "x-request-id": { $ref: "#/components/headers/RequestId" },
  traceparent: { $ref: "#/components/headers/Traceparent" },
} as const satisfies Readonly<Record<string, Reference>>;

const MORE_HEADERS: Readonly<Partial<Record<ErrorCode, Readonly<Record<string, Reference>>>>> = {
  unauthorized: { "www-authenticate": { $ref: "#/components/headers/Authenticate" } },
  busy: { "retry-after": { $ref: "#/components/headers/RetryAfter" } },
  rate_limited: { "retry-after": { $ref: "#/components/headers/RetryAfter" } },
};

/** What a route may answer instead, its own refusals and those that follow from what it takes. */
export function errorCodesOf({
  path,
  doc,
  isOpen,
}: Pick<Route | OpenRoute, "path" | "doc" | "isOpen">): ErrorCode[] {
  const takesBody = doc.body !== undefined || doc.file !== undefined;
  // Whatever is asked for, the request itself may be malformed or its headers too long.
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

/** One answer a status, since two codes may share one. */
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
