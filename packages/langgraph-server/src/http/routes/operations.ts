import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { jsonObjectSchema, ThroughlineError } from "@throughline/ai-core";
import { html } from "hono/html";
import { z } from "zod";
import type { Metrics } from "../../operations/metrics.js";
import type { OpenApiDocument } from "../openapi-shape.js";
import { type App, publicUrlOf, type RouteContext } from "../request.js";
import type { OpenRoute } from "../route.js";

export interface OperationsOptions {
  readonly service: { ready(): Promise<void> };
  readonly metrics: Metrics;
  readonly version: string;
  readonly isClosing: () => boolean;
}

/** `/health`: the process lives. `/ready`: it accepts work, stores included. `/metrics`: numbers for Prometheus. */
export function operationsRoutes({ service, metrics, version, isClosing }: OperationsOptions): OpenRoute[] {
  return [
    {
      method: "GET",
      path: "/health",
      isOpen: true,
      doc: {
        summary: "Say that the process lives",
        tag: "operations",
        response: {
          status: 200,
          description: "It does",
          schema: z.object({ status: z.literal("ok"), version: z.string() }),
        },
        errors: [],
      },
      handle: (c) => c.json({ status: "ok", version }),
    },
    {
      method: "GET",
      path: "/ready",
      isOpen: true,
      doc: {
        summary: "Say whether it can take work, stores included",
        tag: "operations",
        response: { status: 200, description: "It can", schema: z.object({ status: z.literal("ready") }) },
        unavailable: {
          status: 503,
          description: "It can't, for now",
          schema: z.object({ status: z.literal("not_ready") }),
        },
        errors: [],
      },
      async handle(c) {
        if (isClosing()) throw new ThroughlineError("shutting_down", "This instance is shutting down.");
        try {
          await service.ready();
        } catch (error) {
          c.get("logger").warn({ err: error }, "not ready");
          return c.json({ status: "not_ready" }, 503);
        }
        return c.json({ status: "ready" });
      },
    },
    {
      method: "GET",
      path: "/metrics",
      isOpen: true,
      doc: {
        summary: "Read the numbers for Prometheus",
        tag: "operations",
        response: { status: 200, description: "In Prometheus' text format", contentType: "text/plain" },
        errors: [],
      },
      async handle(c) {
        return c.body(await metrics.render(), 200, { "content-type": metrics.contentType });
      },
    },
  ];
}

const rootSchema = z.object({
  service: z.literal("throughline"),
  version: z.string(),
  docs: z.url().describe("This description as a page."),
  openapi: z.url().describe("The same for programs."),
  console: z.url().nullable().describe("Where people watch and steer agents; null: not configured."),
});
type Root = z.output<typeof rootSchema>;

export interface RootOptions extends Pick<App, "publicUrl"> {
  readonly version: string;
  /** The console's public URL. */
  readonly consoleUrl: string | undefined;
}

/** `GET /`: identifies the service and links to console and documentation, as JSON for a program and as a page for a browser. */
export function rootRoute({ version, consoleUrl, publicUrl }: RootOptions): OpenRoute {
  return {
    method: "GET",
    path: "/",
    isOpen: true,
    doc: {
      summary: "Say what this is, and where console and description are",
      tag: "operations",
      response: {
        status: 200,
        description: "Links; a page where the request asks for `text/html`",
        schema: rootSchema,
        otherType: "text/html",
      },
      errors: [],
    },
    handle(c) {
      const base = publicUrlOf(c, { publicUrl });
      const root: Root = {
        service: "throughline",
        version,
        docs: `${base}/docs`,
        openapi: `${base}/openapi.json`,
        console: consoleUrl ?? null,
      };
      c.header("vary", "accept");
      return wantsPage(c) ? page(c, root) : c.json(root);
    },
  };
}

/** Whether the client asks for HTML by name, as browsers do; programs that accept anything get JSON. */
function wantsPage(c: RouteContext): boolean {
  return c.req.header("accept")?.includes("text/html") ?? false;
}

function page(c: RouteContext, { version, docs, console: consoleUrl }: Root): Response | Promise<Response> {
  const whereConsole = consoleUrl
    ? html`<a href="${consoleUrl}">Open the console</a> to watch and steer agents.`
    : html`The console runs beside this service; <code>THROUGHLINE_CONSOLE_URL</code> tells this page where it is.`;
  const shown = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Throughline</title></head>
<body><h1>Throughline</h1>
<p>The service is running, version ${version}.</p>
<p>${whereConsole}</p>
<p><a href="${docs}">Read what its API offers</a>.</p></body></html>`;
  return c.html(shown, 200, {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
  });
}

/** Routes that describe all routes, these included: OpenAPI for programs, a page for people. */
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
        response: { status: 200, description: "OpenAPI 3.1", schema: jsonObjectSchema },
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
        response: {
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
      response: { status: 200, description: "A file of Swagger UI", contentType },
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

/** Creates the document at its first request, so that it does not slow the start. */
function once<Made>(make: () => Made): () => Made {
  let made: { readonly value: Made } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

type Html = ReturnType<typeof html>;

/** The files of Swagger UI that the page loads, by their content type. */
const DOCS_ASSETS = {
  "swagger-ui-bundle.js": "text/javascript",
  "swagger-ui.css": "text/css",
} as const;
type DocsAsset = keyof typeof DOCS_ASSETS;

/** Reads a file of Swagger UI, which the build copies into this package. */
async function readDocsAsset(name: DocsAsset): Promise<Uint8Array<ArrayBuffer>> {
  // Resolved by the package's own name: the folder is the same from source and from dist.
  const manifest = createRequire(import.meta.url).resolve("@throughline/langgraph-server/package.json");
  return new Uint8Array(await readFile(join(dirname(manifest), "dist", "swagger-ui", name)));
}

/** Swagger UI over `openapi.json`. Addresses are relative, so that it works behind a path of a proxy too. */
function docsPage(nonce: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Throughline API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css" nonce="${nonce}">
</head>
<body>
<main id="docs"></main>
<noscript><p>This page needs a script. <a href="openapi.json">The document it shows</a> does not.</p></noscript>
<script src="docs/swagger-ui-bundle.js" nonce="${nonce}"></script>
<script nonce="${nonce}">
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#docs",
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  // No badge of a validator elsewhere.
  validatorUrl: null,
});
</script>
</body>
</html>
`;
}

/**
 * Allows the page's own style and script by nonce, and requests to this service. By nonce and not by origin: the same origin
 * serves files that people uploaded. Swagger UI's style sheet draws its icons from `data:`.
 */
function docsPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}
