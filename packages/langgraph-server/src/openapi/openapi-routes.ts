import { jsonObjectSchema } from "@throughline/ai-core";
import type { OpenRoute } from "../http/route-table.js";
import type { OpenApiDocument } from "./openapi-shape.js";
import { docsPage } from "./page/docs-page.js";

/** The description of all routes, these two included: for programs as OpenAPI, for people as a page. */
export function openApiRoutes(describe: () => OpenApiDocument): OpenRoute[] {
  const document = once(() => JSON.stringify(describe()));
  const page = once(() => docsPage(describe()));
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
        answer: { status: 200, description: "A page that loads nothing else", contentType: "text/html" },
        errors: [],
      },
      handle(c) {
        const { html, contentSecurityPolicy } = page();
        return c.body(html, 200, {
          "content-type": "text/html; charset=utf-8",
          "content-security-policy": contentSecurityPolicy,
          "x-content-type-options": "nosniff",
          "referrer-policy": "no-referrer",
        });
      },
    },
  ];
}

/** Made with the first request for it, so that a server starts no slower. */
function once<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
