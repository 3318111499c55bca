import type { Json } from "@throughline/ai-core";
import fc from "fast-check";
import type { JsonSchema, Operation, Parameter } from "../http/openapi-shape.js";
import { fittingValue, misfittingValue, type ValueSource } from "./fitting-value.js";
import { schemaProblem } from "./schema-problem.js";

export interface ListedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export interface DocumentedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export function listOperations({ document }: Pick<ValueSource, "document">): ListedOperation[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}

/** Requests that fit what the document says of an operation. */
export function fittingRequest(
  source: ValueSource,
  listed: ListedOperation,
): fc.Arbitrary<DocumentedRequest> {
  const { parameters = [] } = listed.operation;
  return fc
    .tuple(
      fc.tuple(...parameters.map((parameter) => parameterValue(source, parameter))),
      bodyValue(source, listed.operation),
    )
    .map(([values, sent]) => assemble(listed, values, sent));
}

/** Requests with one thing wrong, in the body or in the query; `undefined` where nothing can be. */
export function misfittingRequest(
  source: ValueSource,
  listed: ListedOperation,
): fc.Arbitrary<DocumentedRequest> | undefined {
  const { parameters = [], requestBody } = listed.operation;
  const all = fc.tuple(...parameters.map((parameter) => parameterValue(source, parameter)));
  const json = requestBody?.content["application/json"]?.schema;
  if (json && !isFile(json)) {
    return fc
      .tuple(all, misfittingValue(source, json))
      .map(([values, value]) =>
        assemble(listed, values, { type: "application/json", body: JSON.stringify(value) }),
      );
  }
  const spoilable = parameters.flatMap((parameter, index) =>
    parameter.in === "query" ? wrongWords(source, parameter).map((word) => ({ index, word })) : [],
  );
  if (spoilable.length === 0) return undefined;
  return fc
    .tuple(all, fc.constantFrom(...spoilable), bodyValue(source, listed.operation))
    .map(([values, { index, word }, sent]) => assemble(listed, values.with(index, word), sent));
}

/** Plainly wrong, in whichever way a number or a text is read from a query. */
const WRONG_WORDS = ["text", "-1", "1.5", "9999999999", "null", "x".repeat(6_000)];

function wrongWords({ document }: ValueSource, { schema }: Parameter): string[] {
  return WRONG_WORDS.filter((word) => {
    const readings: Json[] = Number.isNaN(Number(word)) ? [word] : [word, Number(word)];
    return readings.every((reading) => schemaProblem({ document }, schema, reading) !== undefined);
  });
}

/** `undefined`: not sent. */
function parameterValue(
  source: ValueSource,
  { name, in: place, required, schema }: Parameter,
): fc.Arbitrary<string | undefined> {
  const any = fittingValue(source, schema)
    .map(String)
    .filter((text) => place !== "header" || isHeaderValue(text));
  const words = (source.words[`${place} ${name}`] ?? source.words[name] ?? []).map(String);
  const value =
    words.length === 0
      ? any
      : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...words) }, { weight: 1, arbitrary: any });
  const sendable = place === "path" ? value.filter(isPathPart) : value;
  return required ? sendable : fc.option(sendable, { nil: undefined, freq: 1 });
}

/** What fetch sends as it stands: it resolves dots away. */
function isPathPart(text: string): boolean {
  return text !== "" && text !== "." && text !== "..";
}

function isHeaderValue(text: string): boolean {
  return /^[\x21-\x7e]*$/.test(text);
}

interface Sent {
  readonly type: string;
  readonly body: string;
}

function bodyValue(source: ValueSource, { requestBody }: Operation): fc.Arbitrary<Sent | undefined> {
  if (!requestBody) return fc.constant(undefined);
  const sent = fc.oneof(
    ...Object.entries(requestBody.content).map(([type, { schema }]) => ofContentType(source, type, schema)),
  );
  return requestBody.required ? sent : fc.option(sent, { nil: undefined, freq: 4 });
}

function ofContentType(source: ValueSource, type: string, schema: JsonSchema): fc.Arbitrary<Sent> {
  if (isFile(schema)) {
    return fc.string({ maxLength: 200 }).map((body) => ({ type, body }));
  }
  return fittingValue(source, schema).map((value) => ({ type, body: JSON.stringify(value) }));
}

/** A schema that takes anything is of bytes, JSON among them. */
function isFile(schema: JsonSchema): boolean {
  return Object.keys(schema).length === 0;
}

function assemble(
  { method, path, operation }: ListedOperation,
  values: readonly (string | undefined)[],
  sent: Sent | undefined,
): DocumentedRequest {
  let filled = path;
  const query = new URLSearchParams();
  const headers: Record<string, string> = sent ? { "content-type": sent.type } : {};
  for (const [index, { name, in: place }] of (operation.parameters ?? []).entries()) {
    const value = values[index];
    if (value === undefined) continue;
    if (place === "path") filled = filled.replace(`{${name}}`, () => encodeURIComponent(value));
    else if (place === "query") query.set(name, value);
    else headers[name] = value;
  }
  const search = query.size > 0 ? `?${query}` : "";
  return { method, path: `${filled}${search}`, headers, body: sent?.body };
}
