import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
let editions = 0;

/**
 * Begins another reading of a project's files. Node imports a URL once per process, so each edition's URLs end in its number;
 * dependencies keep theirs, or every edition would bring a LangChain of its own. What editions before it loaded stays in
 * memory: this is for a person who edits, not for a server that runs for months.
 */
export function nextEdition(): number {
  if (editions === 0) {
    register(`data:text/javascript,${encodeURIComponent(`export ${resolve.toString()}`)}`);
  }
  editions += 1;
  // CommonJS files are kept by path, whatever the URL says.
  for (const file of Object.keys(require.cache)) {
    if (!/[\\/]node_modules[\\/]/.test(file)) delete require.cache[file];
  }
  return editions;
}

export function editionUrl(file: string, edition: number): URL {
  const url = pathToFileURL(file);
  url.searchParams.set("edition", String(edition));
  return url;
}

interface Resolved {
  readonly url: string;
}

/** Runs in the thread of Node's loader, so it may use nothing of this file. What an edition's file imports is of its edition. */
async function resolve(
  specifier: string,
  context: { readonly parentURL?: string },
  next: (specifier: string, context: object) => Promise<Resolved>,
): Promise<Resolved> {
  const found = await next(specifier, context);
  const [, edition] = /[?&]edition=(\d+)/.exec(context.parentURL ?? "") ?? [];
  const isOurs = found.url.startsWith("file:") && !found.url.includes("/node_modules/");
  if (edition === undefined || !isOurs || found.url.includes("edition=")) return found;
  return { ...found, url: `${found.url}${found.url.includes("?") ? "&" : "?"}edition=${edition}` };
}
