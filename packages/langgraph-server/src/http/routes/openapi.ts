import {
  accountIdSchema,
  ERROR_CODES,
  GRAPH_ID_PATTERN,
  isErrorCode,
  type JsonObject,
  subjectSchema,
  threadNameSchema,
} from "@throughline/ai-core";
import { z } from "zod";
import { DEFAULT_ROLE, ROLES } from "../../accounts/actions.js";
import { DEV_ACCOUNT_HEADER, DEV_ROLE_HEADER, DEV_SUBJECT_HEADER } from "../../accounts/callers.js";
import type {
  Content,
  JsonSchema,
  OpenApiDocument,
  OpenApiResponse,
  Operation,
  OperationMethod,
  Parameter,
} from "../openapi-shape.js";
import { visibilityQuerySchema } from "../request-scope.js";
import type { ConditionalResponse, OpenRoute, Route, RouteDoc, RouteResponse, RouteTag } from "../route.js";
import {
  errorCodesOf,
  errorResponse,
  errorResponses,
  type SchemaBook,
  SHARED_ANSWERS,
  SHARED_INPUTS,
  schemaBook,
  TRACE_HEADERS,
} from "./openapi-schemas.js";

export type DocumentedRoute = Pick<Route | OpenRoute, "method" | "path" | "doc" | "isOpen" | "action">;

const TAGS: Readonly<Record<RouteTag, string>> = {
  agents: "Which agents there are.",
  runs: "Starting, watching and stopping runs.",
  threads: "What was said and done, and where it stands.",
  crons: "Runs on a schedule.",
  attachments: "Files of a thread.",
  feedback: "What people think of answers.",
  account: "What is kept of an account, and its deletion.",
  spending: "What model calls cost, and what may be spent.",
  operations: "For operators of the service.",
};

/** Path parameters that mean the same in every path. */
const PATH_PARAMS: Readonly<Record<string, z.ZodType>> = {
  agentId: z.string().regex(GRAPH_ID_PATTERN).describe("`langgraph:chat`, or plain `chat`."),
  threadName: threadNameSchema.describe("What its client calls the thread."),
  threadId: threadNameSchema.describe("The thread's name, which CopilotKit calls its id."),
};
const ANY_NAME = z.string().min(1);

/** Builds the OpenAPI 3.1 document from the routes' descriptions. */
export function openApiDocument(routes: readonly DocumentedRoute[], version: string): OpenApiDocument {
  const inputs = schemaBook("input", SHARED_INPUTS, routes.flatMap(inputSchemasOf));
  const outputs = schemaBook(
    "output",
    SHARED_ANSWERS,
    routes.flatMap(({ doc }) => outputSchemasOf(doc)),
  );
  const paths: Record<string, Partial<Record<OperationMethod, Operation>>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [methodOf(route)]: operationOf(route, inputs, outputs) };
  }
  const used = new Set(routes.map(({ doc }) => doc.tag));
  return {
    openapi: "3.1.0",
    info: {
      title: "Throughline",
      version,
      description:
        "The live line between LangGraph agents and the people who watch and steer them. Every refusal is JSON with a `code` from a closed list, a `message` and a `hint`. A path asked with a method it does not have answers 405 and names those it has.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [
      { token: [] },
      { devAccount: [] },
      { devAccount: [], devSubject: [] },
      { devAccount: [], devSubject: [], devRole: [] },
    ],
    tags: Object.entries(TAGS)
      .filter(([name]) => [...used].some((tag) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...inputs.named, ...outputs.named },
      responses: Object.fromEntries(
        Object.keys(ERROR_CODES)
          .filter(isErrorCode)
          .filter((code) => ERROR_CODES[code].status !== undefined)
          .map((code) => [code, errorResponse([code])]),
      ),
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const HEADERS: OpenApiDocument["components"]["headers"] = {
  RequestId: {
    description: "Names the request in logs: the client's own `x-request-id`, or a new one.",
    required: true,
    schema: { type: "string" },
  },
  Traceparent: {
    description: "Where the request stands in its trace (W3C). Absent where it could not be read at all.",
    schema: { type: "string" },
  },
  RetryAfter: { description: "Seconds.", schema: { type: "string", pattern: "^[0-9]+$" } },
  Authenticate: { description: "How to sign in.", schema: { type: "string" } },
};

const SECURITY_SCHEMES: Readonly<Record<string, JsonObject>> = {
  token: { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "A signed token that expires." },
  devAccount: {
    type: "apiKey",
    in: "header",
    name: DEV_ACCOUNT_HEADER,
    description: "With dev sign-in, which answers this machine only: the account to be. Absent means `dev`.",
    ...valuesOf(accountIdSchema),
  },
  devSubject: {
    type: "apiKey",
    in: "header",
    name: DEV_SUBJECT_HEADER,
    description: "With dev sign-in: the person inside the account, whose threads are theirs alone.",
    ...valuesOf(subjectSchema),
  },
  devRole: {
    type: "apiKey",
    in: "header",
    name: DEV_ROLE_HEADER,
    description: `With dev sign-in: ${ROLES.join(", ")}. Absent means ${DEFAULT_ROLE}; without a subject, admin.`,
  },
};

/** The values that a header accepts. A security scheme has no keyword for these in OpenAPI, so they are an extension. */
function valuesOf(schema: z.ZodType): JsonObject {
  const book = schemaBook("input", {}, [schema]);
  return { "x-throughline-schema": book.schemaOf(schema) };
}

function methodOf({ method }: DocumentedRoute): OperationMethod {
  const methods = { GET: "get", POST: "post", PUT: "put", PATCH: "patch", DELETE: "delete" } as const;
  return methods[method];
}

function operationOf(route: DocumentedRoute, inputs: SchemaBook, outputs: SchemaBook): Operation {
  const { summary, description, tag } = route.doc;
  const parameters = parametersOf(route, inputs);
  const requestBody = requestBodyOf(route.doc, inputs);
  return {
    operationId: operationIdOf(route),
    summary,
    ...(description !== undefined && { description }),
    tags: [tag],
    ...(route.action === undefined ? { security: [] as const } : { "x-throughline-action": route.action }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: responsesOf(route, outputs),
  };
}

/** Derives the operation id from the path, not the summary: generated clients name methods by it, and wording changes. */
function operationIdOf({ method, path }: DocumentedRoute): string {
  const words = path.split("/").flatMap((part, index, parts) => {
    if (!part.startsWith(":")) return part.split(/\W+/);
    return index === parts.length - 1 ? ["by", part.slice(1)] : [];
  });
  const capitalised = words.filter(Boolean).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return method.toLowerCase() + capitalised.join("");
}

function pathNamesOf(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
}

function pathSchemaOf(doc: RouteDoc, name: string): z.ZodType {
  const own: z.core.$ZodType | undefined = doc.params?.shape[name];
  // A parsed boundary: the contents of a `ZodObject` are created by the same library.
  return (own as z.ZodType | undefined) ?? PATH_PARAMS[name] ?? ANY_NAME;
}

/** The query parameters of a route. Where a path names a thread, the query names its visibility. */
function queriesOf({ path, doc }: Pick<DocumentedRoute, "path" | "doc">): z.ZodObject[] {
  const namesThread = path.includes("/:threadName");
  return [...(doc.query ? [doc.query] : []), ...(namesThread ? [visibilityQuerySchema] : [])];
}

function inputSchemasOf({ path, doc }: DocumentedRoute): z.ZodType[] {
  const objects = [...queriesOf({ path, doc }), doc.headers, doc.body].filter(
    (schema) => schema !== undefined,
  );
  return [...objects, ...pathNamesOf(path).map((name) => pathSchemaOf(doc, name))];
}

function parametersOf({ path, doc }: DocumentedRoute, inputs: SchemaBook): Parameter[] {
  return [
    ...pathNamesOf(path).map((name) =>
      parameter(name, "path", true, inputs.schemaOf(pathSchemaOf(doc, name))),
    ),
    ...queriesOf({ path, doc }).flatMap((query) => fieldsOf(query, "query", inputs)),
    ...(doc.headers ? fieldsOf(doc.headers, "header", inputs) : []),
  ];
}

function fieldsOf(object: z.ZodObject, location: "query" | "header", inputs: SchemaBook): Parameter[] {
  const { properties, required } = inputs.schemaOf(object);
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) =>
    parameter(name, location, needed.includes(name), isObject(schema) ? schema : {}),
  );
}

function parameter(
  name: string,
  location: Parameter["in"],
  required: boolean,
  schema: JsonSchema,
): Parameter {
  const { description, ...rest } = schema;
  return {
    name,
    in: location,
    required,
    ...(typeof description === "string" && { description }),
    schema: rest,
  };
}

function requestBodyOf({ body, file }: RouteDoc, inputs: SchemaBook): Operation["requestBody"] {
  if (file)
    return { required: true, content: Object.fromEntries(file.map((type) => [type, { schema: {} }])) };
  if (!body) return undefined;
  // Every route treats a missing body as an empty one.
  const required = !body.safeParse({}).success;
  return { required, content: { "application/json": { schema: inputs.schemaOf(body) } } };
}

function outputSchemasOf({ response, unavailable }: RouteDoc): z.ZodType[] {
  return [
    ...("schema" in response && response.schema ? [response.schema] : []),
    ...("events" in response ? [response.events] : []),
    ...(unavailable ? [unavailable.schema] : []),
  ];
}

function responsesOf(route: DocumentedRoute, outputs: SchemaBook): Operation["responses"] {
  const { response, alternatives = [], unavailable } = route.doc;
  const errors = errorCodesOf(route);
  const good: OpenApiResponse = {
    description: response.description,
    headers: TRACE_HEADERS,
    ...(response.status !== 204 && { content: contentOf(response, outputs) }),
  };
  const responses = {
    [response.status]: good,
    ...Object.fromEntries(alternatives.map((one) => [one.status, conditionalResponse(one)])),
    ...errorResponses(errors),
  };
  if (!unavailable) return responses;
  const sharing = errors.filter((code) => ERROR_CODES[code].status === unavailable.status);
  const refusal = errorResponse(sharing);
  const schemas = [refusal.content?.["application/json"]?.schema, outputs.schemaOf(unavailable.schema)];
  return {
    ...responses,
    [unavailable.status]: {
      description: `${unavailable.description}. ${refusal.description}`,
      headers: TRACE_HEADERS,
      content: {
        "application/json": { schema: { anyOf: schemas.filter((schema) => schema !== undefined) } },
      },
    },
  };
}

function conditionalResponse(response: ConditionalResponse): OpenApiResponse {
  const { description } = response;
  if ("code" in response) return { ...errorResponse([response.code]), description };
  return {
    description,
    headers: TRACE_HEADERS,
    ...("contentType" in response && { content: { [response.contentType]: { schema: {} } } }),
  };
}

function contentOf(response: Exclude<RouteResponse, { status: 204 }>, outputs: SchemaBook): Content {
  if ("contentType" in response) return { [response.contentType]: { schema: {} } };
  return {
    ...("events" in response && {
      "text/event-stream": { schema: eventSchema(outputs.schemaOf(response.events), response.lastData) },
    }),
    ...(response.schema && { "application/json": { schema: outputs.schemaOf(response.schema) } }),
    ...("otherType" in response &&
      response.otherType !== undefined && { [response.otherType]: { schema: {} } }),
  };
}

function eventSchema(contentSchema: JsonSchema, lastData: string | undefined): JsonSchema {
  const data: JsonSchema = { type: "string", contentMediaType: "application/json", contentSchema };
  return {
    type: "object",
    properties: {
      id: { type: "string" },
      event: { type: "string" },
      data: lastData === undefined ? data : { anyOf: [{ const: lastData }, data] },
    },
    required: ["data"],
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
