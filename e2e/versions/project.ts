import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { GalleryEntry } from "../graphs/gallery.js";
import { langgraphJson } from "../graphs/gallery-suite.js";
import { install } from "../install/rig/package-manager.js";
import type { Stranger } from "../install/rig/stranger.js";
import { tarballs } from "../install/rig/tarballs.js";
import type { Combination } from "./combinations.js";

const GRAPHS = resolve(import.meta.dirname, "../graphs");

/** Makes a project of the gallery's graphs outside the clone, with a combination's LangChain and the packed service. */
export async function installProject(
  person: Stranger,
  { manager, langgraph, core, sdk }: Combination,
  entries: readonly GalleryEntry[],
): Promise<void> {
  const ours = tarballsOf("@throughline/cli");
  const dependencies = {
    ...ours,
    "@langchain/core": core,
    "@langchain/langgraph": langgraph,
    "@langchain/langgraph-checkpoint": "^1.0.0",
    ...(sdk !== undefined && { "@langchain/langgraph-sdk": sdk }),
    tsx: "4.23.15",
    zod: "4.6.7",
  };
  const write = (file: string, text: string) => writeFileSync(join(person.folder, file), text);
  write(
    "package.json",
    JSON.stringify({ name: "gallery", private: true, type: "module", dependencies }, null, 2),
  );
  // Our tarballs name each other by versions that no registry has yet; of LangChain nothing is overridden.
  const overrides = Object.entries(ours).map(([name, spec]) => `  "${name}": "${spec}"`);
  write("pnpm-workspace.yaml", ["strictDepBuilds: false", "overrides:", ...overrides, ""].join("\n"));
  write("langgraph.json", JSON.stringify(langgraphJson("./graphs/gallery", entries)));
  cpSync(GRAPHS, join(person.folder, "graphs"), { recursive: true });
  await install(person, manager);
}

/** Our packages that one of them needs, itself among them. */
function tarballsOf(name: string): Record<string, string> {
  const all = tarballs();
  const needed = new Map<string, string>();
  (function add(each: string): void {
    const path = all.get(each);
    if (path === undefined || needed.has(each)) return;
    needed.set(each, `file:${path}`);
    const folder = each.replace(/^@throughline\//, "");
    const manifest = resolve(import.meta.dirname, "../../packages", folder, "package.json");
    for (const dependency of Object.keys(JSON.parse(readFileSync(manifest, "utf8")).dependencies ?? {}))
      add(dependency);
  })(name);
  return Object.fromEntries(needed);
}
