import { html } from "hono/html";
import { z } from "zod";
import { addressOf } from "../http/address-of.js";
import type { RouteContext, RouteParts } from "../http/ingress.js";
import type { OpenRoute } from "../http/route-table.js";

const rootSchema = z.object({
  service: z.literal("throughline"),
  version: z.string(),
  docs: z.url().describe("This description as a page."),
  openapi: z.url().describe("The same for programs."),
  console: z.url().nullable().describe("Where people watch and steer agents; null: not configured."),
});
type Root = z.output<typeof rootSchema>;

export interface RootOptions extends Pick<RouteParts, "publicUrl"> {
  readonly version: string;
  /** Where the console is, as people reach it. */
  readonly consoleUrl: string | undefined;
}

/** `GET /`: what this is and where to go from here, for a program as JSON and for a browser as a page. */
export function rootRoute({ version, consoleUrl, publicUrl }: RootOptions): OpenRoute {
  return {
    method: "GET",
    path: "/",
    isOpen: true,
    doc: {
      summary: "Say what this is, and where console and description are",
      tag: "operations",
      answer: {
        status: 200,
        description: "Links; a page where the request asks for `text/html`",
        schema: rootSchema,
        orAs: "text/html",
      },
      errors: [],
    },
    handle(c) {
      const base = addressOf(c, { publicUrl });
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

/** Browsers name it; programs that take anything get JSON. */
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
