import type { OpenApiDocument, Operation } from "../openapi-shape.js";
import { exampleName, exampleValue } from "./example-value.js";

/** The page's script puts the address it was loaded from here. */
export const SERVER_ADDRESS = "http://localhost:8123";

/** An operation as a command that a person can paste into a shell, with everything it needs and nothing else. */
export function curlCommand(
  document: OpenApiDocument,
  method: string,
  path: string,
  { parameters = [], requestBody, responses }: Operation,
): string {
  let filled = path;
  const query: string[] = [];
  for (const { name, in: place, required, schema } of parameters) {
    const value = encodeURIComponent(exampleName(document, name, schema));
    if (place === "path") filled = filled.replace(`{${name}}`, value);
    else if (place === "query" && required) query.push(`${name}=${value}`);
  }
  const address = `${SERVER_ADDRESS}${filled}${query.length > 0 ? `?${query.join("&")}` : ""}`;
  const good = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const isStream = good !== undefined && "content" in good && "text/event-stream" in (good.content ?? {});
  const [contentType, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const lines = [
    `curl${isStream ? " -N" : ""}${method === "GET" ? "" : ` -X ${method}`} ${quoted(address)}`,
    ...(contentType === undefined ? [] : [`-H ${quoted(`content-type: ${contentType}`)}`]),
    ...(contentType === "application/json" && media
      ? [`-d ${quoted(JSON.stringify(exampleValue(document, media.schema, ["threadId", "messages"])))}`]
      : []),
    ...(contentType !== undefined && contentType !== "application/json" ? ["--data-binary @file"] : []),
  ];
  return lines.join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
