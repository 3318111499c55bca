import type { Json, JsonObject } from "@throughline/ai-core";
import type {
  Content,
  JsonSchema,
  OpenApiDocument,
  OpenApiResponse,
  Operation,
  Parameter,
  Reference,
} from "../openapi-shape.js";
import { curlCommand } from "./curl-command.js";
import { joined, type Markup, markup, prose } from "./markup.js";
import { schemaView, typeText } from "./schema-view.js";

export interface ShownOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** One operation: what it is for, what it takes, how to ask, what it answers. */
export function operationView(document: OpenApiDocument, shown: ShownOperation): Markup {
  const { method, path, operation } = shown;
  const { operationId, summary, description, parameters = [], requestBody, security } = operation;
  return markup`<article id="${operationId}" data-words="${searchWords(shown)}">
<h3><a class="anchor" href="#${operationId}">${summary}</a></h3>
<p class="route">${methodBadge(method)} <code>${path}</code>${security?.length === 0 && markup` <span class="facts">no sign-in</span>`}</p>
${description !== undefined && markup`<p>${prose(description)}</p>`}
${parameters.length > 0 && markup`<h4>Parameters</h4>${parameterTable(parameters)}`}
${requestBody && markup`<h4>Body</h4>${bodyView(requestBody)}`}
<h4>Ask</h4>
<div class="command"><pre><code>${curlCommand(document, method, path, operation)}</code></pre><button type="button" class="copy" hidden>Copy</button></div>
<h4>Answers</h4>
${Object.entries(operation.responses).map(([status, response]) => responseView(document, status, response))}
</article>`;
}

export function methodBadge(method: string): Markup {
  return markup`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** In lower case: what a person may look for. */
export function searchWords({ method, path, operation }: ShownOperation): string {
  return [method, path, operation.summary, operation.description ?? "", ...operation.tags]
    .join(" ")
    .toLowerCase();
}

function parameterTable(parameters: readonly Parameter[]): Markup {
  const properties = Object.fromEntries(
    parameters.map(({ name, in: place, description, schema }) => [
      name,
      { ...schema, description: `${description ?? ""} ${place === "path" ? "" : `(${place})`}`.trim() },
    ]),
  );
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return schemaView({ type: "object", properties, required });
}

function bodyView({ required, content }: NonNullable<Operation["requestBody"]>): Markup {
  const types = Object.keys(content);
  const json = content["application/json"];
  const optional = required ? "" : " May be left out.";
  if (types.length === 1 && json)
    return markup`${schemaView(json.schema)}${optional && markup`<p>${optional}</p>`}`;
  const codes = types.map((type) => markup`<code>${type}</code>`);
  return markup`<p>The file itself, as one of ${joined(codes, ", ")}.</p>`;
}

function responseView(
  document: OpenApiDocument,
  status: string,
  response: OpenApiResponse | Reference,
): Markup {
  const { description, content = {} } = resolved(document, response);
  const isGood = status.startsWith("2");
  return markup`<div class="answer"><span class="status ${isGood ? "good" : "bad"}">${status}</span><div><p>${prose(description)}</p>${isGood && contentView(content)}</div></div>`;
}

function contentView(content: Content): Markup {
  return markup`${Object.entries(content).map(([type, media]) => {
    const events = eventDataOf(media.schema);
    if (events)
      return markup`<p class="type"><code>${type}</code>, each <code>data</code> a ${typeText(events)}</p>`;
    if (type !== "application/json") return markup`<p class="type"><code>${type}</code></p>`;
    // What has a name has a place of its own on the page.
    if ("$ref" in media.schema)
      return markup`<p class="type"><code>${type}</code> ${typeText(media.schema)}</p>`;
    return markup`<details><summary><code>${type}</code> ${typeText(media.schema)}</summary>${schemaView(media.schema)}</details>`;
  })}`;
}

function eventDataOf({ properties }: JsonSchema): JsonSchema | undefined {
  const data = isObject(properties) ? properties.data : undefined;
  const contentSchema = isObject(data) ? data.contentSchema : undefined;
  return isObject(contentSchema) ? contentSchema : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function resolved(document: OpenApiDocument, response: OpenApiResponse | Reference): OpenApiResponse {
  if (!("$ref" in response)) return response;
  const name = response.$ref.slice("#/components/responses/".length);
  return document.components.responses[name] ?? { description: "" };
}
