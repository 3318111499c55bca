import type { Json } from "@throughline/ai-core";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { MediaType, OpenApiDocument, OpenApiResponse } from "../http/openapi-shape.js";
import type { DocumentedRequest, ListedOperation } from "./documented-request.js";
import { schemaProblem } from "./schema-problem.js";

/** What an answer is that the document does not say, or `undefined`. Reads it to its end, unless it has none. */
export async function answerProblem(
  document: OpenApiDocument,
  { operation }: ListedOperation,
  request: DocumentedRequest,
  answer: Response,
): Promise<string | undefined> {
  const { status } = answer;
  const documented = resolved(document, operation.responses[status]);
  if (status >= 500) return `${status}: ${await answer.text()}`;
  if (!documented) return `${status} is documented nowhere: ${await answer.text()}`;
  const missing = Object.entries(documented.headers ?? {}).find(
    ([name, { $ref }]) => isRequired(document, $ref) && !answer.headers.has(name),
  )?.[0];
  if (missing !== undefined) return `${status} comes without ${missing}`;
  const content = documented.content ?? {};
  const type = (answer.headers.get("content-type") ?? "").split(";")[0] ?? "";
  if (Object.keys(content).length === 0) {
    const text = await answer.text();
    return text === "" ? undefined : `${status} has a body: ${text.slice(0, 200)}`;
  }
  const media = content[type] ?? content["*/*"];
  if (!media) return `${status} is ${type}, which is documented nowhere`;
  if (type === "text/event-stream") return streamProblem(document, media, request, answer);
  const text = await answer.text();
  if (type !== "application/json" || content["*/*"]) return undefined;
  // A parsed boundary: what JSON.parse gives is JSON.
  const problem = schemaProblem({ document, closed: true }, media.schema, JSON.parse(text) as Json);
  return problem && `${status}: ${problem} in ${text.slice(0, 500)}`;
}

async function streamProblem(
  document: OpenApiDocument,
  media: MediaType,
  request: DocumentedRequest,
  answer: Response,
): Promise<string | undefined> {
  if (isEndless(request)) {
    await answer.body?.cancel();
    return undefined;
  }
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => void events.push(event) }).feed(await answer.text());
  for (const { id, event, data } of events) {
    const told = { data, ...(id !== undefined && { id }), ...(event !== undefined && { event }) };
    const problem = schemaProblem({ document, closed: true }, media.schema, told);
    if (problem !== undefined) return `an event: ${problem} in ${data.slice(0, 500)}`;
  }
  return undefined;
}

/** Whether it asks for a stream that goes on when there is nothing more to tell. */
function isEndless({ path, body }: DocumentedRequest): boolean {
  const url = new URL(path, "http://localhost");
  const follow = url.searchParams.get("follow");
  const asked = follow === null ? /\/(events|follow)$/.test(url.pathname) : !["0", "false"].includes(follow);
  return asked || (body ?? "").includes('"follow":true');
}

function isRequired({ components }: OpenApiDocument, headerRef: string): boolean {
  return components.headers[headerRef.slice("#/components/headers/".length)]?.required === true;
}

function resolved(
  document: OpenApiDocument,
  response: ListedOperation["operation"]["responses"][string] | undefined,
): OpenApiResponse | undefined {
  if (!response || !("$ref" in response)) return response;
  return document.components.responses[response.$ref.slice("#/components/responses/".length)];
}
