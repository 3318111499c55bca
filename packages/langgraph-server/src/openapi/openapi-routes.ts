import { randomBytes } from "node:crypto";
import { jsonObjectSchema } from "@throughline/ai-core";
import type { OpenRoute } from "../http/route-table.js";
import { DOCS_ASSETS, type DocsAsset, docsPage, docsPolicy, readDocsAsset } from "./docs-page.js";
import type { OpenApiDocument } from "./openapi-shape.js";

/** The description of all routes, these included: for programs as OpenAPI, for people as a page. */
export function openApiRoutes(describe: () => OpenApiDocument): OpenRoute[] {
  const document = once(() => JSON.stringify(describe()));
  return [
    {
      method: "GET",
      path: "/openapi.json",
      isOpen: true,
      doc: {
        summary: "Read this description of the service",
        tag: "operations",
        answer: { status: 200, description: "OpenAPI 3.1", schema: jsonObjectSchema },
        errors: [],
      },
      handle: (c) => c.body(document(), 200, { "content-type": "application/json" }),
    },
    {
      method: "GET",
      path: "/docs",
      isOpen: true,
      doc: {
        summary: "Read the same as a page",
        tag: "operations",
        answer: {
          status: 200,
          description: "A page that loads only from this service",
          contentType: "text/html",
        },
        errors: [],
      },
      handle(c) {
        const nonce = randomBytes(16).toString("base64url");
        return c.html(docsPage(nonce), 200, {
          "content-security-policy": docsPolicy(nonce),
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
          "cache-control": "no-store",
        });
      },
    },
    assetRoute("swagger-ui-bundle.js", "Read the page's script"),
    assetRoute("swagger-ui.css", "Read the page's style"),
  ];
}

function assetRoute(name: DocsAsset, summary: string): OpenRoute {
  const contentType = DOCS_ASSETS[name];
  const file = once(() => readDocsAsset(name));
  return {
    method: "GET",
    path: `/docs/${name}`,
    isOpen: true,
    doc: {
      summary,
      tag: "operations",
      answer: { status: 200, description: "A file of Swagger UI", contentType },
      errors: [],
    },
    handle: async (c) =>
      c.body(await file(), 200, {
        "content-type": `${contentType}; charset=utf-8`,
        "x-content-type-options": "nosniff",
        "cache-control": "public, max-age=3600",
      }),
  };
}

/** Made with the first request for it, so that a server starts no slower. */
function once<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
