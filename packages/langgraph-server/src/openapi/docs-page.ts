import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { html } from "hono/html";

type Html = ReturnType<typeof html>;

/** The files of Swagger UI that the page loads, by their content type. */
export const DOCS_ASSETS = {
  "swagger-ui-bundle.js": "text/javascript",
  "swagger-ui.css": "text/css",
} as const;
export type DocsAsset = keyof typeof DOCS_ASSETS;

/** Reads a file of Swagger UI, which the build copies into this package. */
export async function readDocsAsset(name: DocsAsset): Promise<Uint8Array<ArrayBuffer>> {
  // By the package's own name: the folder is the same from source and from dist.
  const manifest = createRequire(import.meta.url).resolve("@throughline/langgraph-server/package.json");
  return new Uint8Array(await readFile(join(dirname(manifest), "dist", "swagger-ui", name)));
}

/** Swagger UI over `openapi.json`. Addresses are relative, so that it works behind a path of a proxy too. */
export function docsPage(nonce: string): Html {
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
export function docsPolicy(nonce: string): string {
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
