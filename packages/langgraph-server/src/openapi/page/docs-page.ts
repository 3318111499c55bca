import { createHash } from "node:crypto";
import type { OpenApiDocument } from "../openapi-shape.js";
import { SERVER_ADDRESS } from "./curl-command.js";
import { DOCS_SCRIPT } from "./docs-script.js";
import { DOCS_STYLE } from "./docs-style.js";
import { type Markup, markup, prose } from "./markup.js";
import { methodBadge, operationView, type ShownOperation, searchWords } from "./operation-view.js";
import { schemaView } from "./schema-view.js";

export interface DocsPage {
  readonly html: string;
  /** Lets this one style and this one script through, and nothing from anywhere else. */
  readonly contentSecurityPolicy: string;
}

/** The document for people: all of it is in the page, so it can be read without a script too. */
export function docsPage(document: OpenApiDocument): DocsPage {
  const { title, version, description } = document.info;
  const groups = document.tags.map((tag) => ({ ...tag, operations: operationsOf(document, tag.name) }));
  const schemas = Object.entries(document.components.schemas);
  const { html } = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} API</title>
<link rel="icon" href="data:,">
<style>${asIs(DOCS_STYLE)}</style>
</head>
<body data-address="${SERVER_ADDRESS}">
<a class="skip" href="#operations">To the operations</a>
<div class="page">
<nav aria-label="Operations">
<form role="search" hidden><label for="search">Find an operation or a schema</label>
<input id="search" type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></form>
<p id="found" class="facts" role="status"></p>
<div class="groups">
${groups.map(
  ({ name, operations }) => markup`<div data-group><h2>${name}</h2><ul>${operations.map(linkTo)}</ul></div>`,
)}
<div data-group><h2>schemas</h2><ul class="names">${schemas.map(
    ([name]) => markup`<li data-words="${name.toLowerCase()}"><a href="#schema-${name}">${name}</a></li>`,
  )}</ul></div>
</div>
</nav>
<main id="operations">
<h1>${title} API</h1>
<p class="lead">Version ${version}. For programs: <a href="openapi.json">openapi.json</a>.</p>
<p>${prose(description)}</p>
<h2>Sign in</h2>
${Object.values(document.components.securitySchemes).map(signInView)}
${groups.map(
  ({
    name,
    description: about,
    operations,
  }) => markup`<section data-group><h2>${capitalised(name)}</h2><p class="lead">${about}</p>
${operations.map((operation) => operationView(document, operation))}</section>`,
)}
<section data-group><h2>Schemas</h2>
${schemas.map(
  ([name, schema]) =>
    markup`<article id="schema-${name}" data-words="${name.toLowerCase()}"><h3><a class="anchor" href="#schema-${name}">${name}</a></h3>${schemaView(schema)}</article>`,
)}</section>
</main>
</div>
<script>${asIs(DOCS_SCRIPT)}</script>
</body>
</html>
`;
  return {
    html,
    contentSecurityPolicy: [
      "default-src 'none'",
      `style-src ${hashOf(DOCS_STYLE)}`,
      `script-src ${hashOf(DOCS_SCRIPT)}`,
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  };
}

function operationsOf(document: OpenApiDocument, tag: string): ShownOperation[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function linkTo(shown: ShownOperation): Markup {
  const { method, operation } = shown;
  return markup`<li data-words="${searchWords(shown)}"><a href="#${operation.operationId}">${methodBadge(method)}<span>${operation.summary}</span></a></li>`;
}

function signInView(scheme: OpenApiDocument["components"]["securitySchemes"][string]): Markup {
  const how = scheme.type === "http" ? "authorization: Bearer …" : `${String(scheme.name)}: …`;
  return markup`<p><code>${how}</code> ${prose(String(scheme.description))}</p>`;
}

function capitalised(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** Our own style and script, which hold nothing that would end their element. */
function asIs(html: string): Markup {
  return { html };
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
