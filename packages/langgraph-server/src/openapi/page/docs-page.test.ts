import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../handler/testing/test-server.js";
import { openApiDocument } from "../openapi-document.js";
import type { OpenApiDocument } from "../openapi-shape.js";
import { listOperations } from "../testing/documented-request.js";
import { schemaProblem } from "../testing/schema-problem.js";
import { docsPage } from "./docs-page.js";
import { exampleValue } from "./example-value.js";

let server: TestServer;
let document: OpenApiDocument;
let html: string;
let policy: string;
beforeAll(async () => {
  server = await startTestServer();
  // A parsed boundary: our own answer, which has a test of its own.
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApiDocument;
  const answer = await fetch(`${server.url}/docs`);
  html = await answer.text();
  policy = answer.headers.get("content-security-policy") ?? "";
});
afterAll(() => server.close());

function contentOf(element: string): string {
  return new RegExp(`<${element}>([^]*?)</${element}>`).exec(html)?.[1] ?? "";
}

describe("The page at /docs", () => {
  it("shows every operation and every schema, and each link within it leads somewhere", () => {
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const { operation } of listOperations({ document })) expect(ids).toContain(operation.operationId);
    for (const name of Object.keys(document.components.schemas)) expect(ids).toContain(`schema-${name}`);
    const links = [...html.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.length).toBeGreaterThan(ids.size);
    expect(links.filter((id) => !ids.has(id))).toEqual([]);
  });

  it("loads nothing from elsewhere, and lets no other style or script in", () => {
    expect(html).not.toMatch(/ (?:src|srcset|action)=| href="(?:https?:)?\/\//);
    expect(policy).toContain("default-src 'none'");
    for (const [element, directive] of [
      ["style", "style-src"],
      ["script", "script-src"],
    ] as const) {
      const hash = createHash("sha256").update(contentOf(element)).digest("base64");
      expect(policy).toContain(`${directive} 'sha256-${hash}';`);
    }
  });

  it("gives examples of bodies that fit what the document says of them", () => {
    const bodies = listOperations({ document }).flatMap(({ operation }) => {
      const schema = operation.requestBody?.content["application/json"]?.schema;
      return schema ? [{ id: operation.operationId, schema }] : [];
    });
    expect(bodies.length).toBeGreaterThan(10);
    for (const { id, schema } of bodies) {
      const example = exampleValue(document, schema, ["threadId", "messages"]);
      expect([id, schemaProblem({ document }, schema, example)]).toEqual([id, undefined]);
    }
  });

  it("shows text as text, whatever a graph or a person calls things", () => {
    const hostile = openApiDocument([], '<img src=x onerror="alert(1)">');
    const page = docsPage(hostile).html;
    expect(page).not.toContain("<img");
    expect(page).toContain("&lt;img src=x onerror=&quot;alert(1)&quot;&gt;");
  });
});
