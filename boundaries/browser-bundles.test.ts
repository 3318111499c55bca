import { join, relative, sep } from "node:path";
import { Rolldown } from "tsdown";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** The modules that a page's bundle has for this statement, written in a package or app of ours; read from what is built. */
async function bundledModules(folder: string, statement: string): Promise<readonly string[]> {
  const entry = join(root, folder, "browser-bundle-entry.js");
  const bundle = await Rolldown.rolldown({
    cwd: root,
    input: entry,
    platform: "browser",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === entry ? entry : null),
        load: (id) => (id === entry ? statement : null),
      },
    ],
    logLevel: "silent",
  });
  try {
    const { output } = await bundle.generate({ format: "esm" });
    const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
    return modules
      .map((path) => relative(root, path).split(sep).join("/"))
      .filter((path) => !path.endsWith("browser-bundle-entry.js"));
  } finally {
    await bundle.close();
  }
}

const packagesOf = (modules: readonly string[]) =>
  new Set(modules.map((path) => /^packages\/([^/]+)/.exec(path)?.[1] ?? path));

test("a page that applies deltas takes the one module that does", async () => {
  const modules = await bundledModules("apps/web", 'export { applyPatch } from "@throughline/reading";');
  expect(modules).toEqual(["packages/reading/dist/delta/apply-patch.js"]);
});

test("a page that folds a log and reads it as AG-UI takes neither zod nor the checker of answers", async () => {
  const modules = await bundledModules(
    "apps/web",
    'export { applyEntry, createAgUiEncoder, emptyThreadProjection } from "@throughline/reading";',
  );
  expect(packagesOf(modules)).toEqual(new Set(["ai-core", "coerce", "questions", "reading"]));
});

test("the client takes of the reading no more than it applies", async () => {
  const modules = await bundledModules(
    "apps/web",
    'export { createAgentClient } from "@throughline/agent-client";',
  );
  const own = modules.filter((path) => !path.includes("/node_modules/uuid/"));
  expect(packagesOf(own)).toEqual(new Set(["agent-client", "reading"]));
  expect(modules.filter((path) => path.startsWith("packages/reading/"))).toHaveLength(1);
});

test("a page that takes a schema takes zod with it, so the tests above would see it", async () => {
  const modules = await bundledModules("apps/web", 'export { envelopeSchema } from "@throughline/ai-core";');
  expect(modules.some((path) => path.includes("/zod/"))).toBe(true);
});
