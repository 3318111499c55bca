import { GALLERY } from "./gallery.js";
import { type PlainGraph, runPlain } from "./plain-graph.js";

// Prints the turns of the named graphs as JSON, each run plainly by the LangGraph that this folder resolves.
const turns: Record<string, unknown> = {};
for (const name of process.argv.slice(2)) {
  const entry = GALLERY.find((each) => each.name === name);
  if (!entry) throw new Error(`The gallery has no graph "${name}".`);
  const exports: Record<string, unknown> = await import(`./gallery/${entry.module}.js`);
  turns[name] = await runPlain(exports[name] as PlainGraph, entry);
}
process.stdout.write(`${JSON.stringify(turns)}\n`);
