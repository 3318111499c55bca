// @ts-check
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { readOptions } from "./read-options.mjs";
import { renderLlmsTxt } from "./render-llms-txt.mjs";
import { ensureReady } from "./workspace.mjs";
import { root } from "./workspace-packages.mjs";

const generated = [
  {
    file: "packages/langgraph-graphs/langgraph.json",
    package: "packages/langgraph-graphs",
    render: "renderLanggraphJson",
  },
  { file: "docs/envelope.schema.json", package: "packages/ai-core", render: "renderEnvelopeJsonSchema" },
  {
    file: "docs/configuration.md",
    package: "packages/langgraph-server",
    render: "renderConfigurationReference",
  },
  { file: "docs/roles.md", package: "packages/langgraph-server", render: "renderRoles" },
  { file: "docs/openapi.json", package: "packages/langgraph-server", render: "renderOpenApi" },
  {
    file: "patches/@ag-ui__langgraph@0.0.43.patch",
    module: "patches/ag-ui-langgraph/render-patch.mjs",
    render: "renderPatch",
  },
  { file: "pnpm-lock.yaml", module: "patches/ag-ui-langgraph/render-patch.mjs", render: "renderLockfile" },
  // Last: it reads what the others wrote.
  { file: "llms.txt", render: renderLlmsTxt },
];

const { check } = readOptions(
  [
    "npm run generate [-- --check]",
    "",
    "Writes the files that are made from code:",
    ...generated.map(({ file }) => `  ${file}`),
    "",
    "  --check  write nothing; fail if one of them is not what the code makes",
  ].join("\n"),
  { check: { type: "boolean" } },
);

await ensureReady();

const stale = [];
for (const { file, package: folder, module: source = `${folder}/dist/index.js`, render } of generated) {
  const text = typeof render === "function" ? render() : await renderWith(source, render);
  const path = join(root, file);
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  stale.push(file);
  if (check) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

if (stale.length === 0) console.log("Generated files are up to date.");
else if (!check) console.log(`Written: ${stale.join(", ")}`);
else {
  console.error(
    `Not what the code makes: ${stale.join(", ")}. Run \`npm run generate\` and commit the result.`,
  );
  process.exit(1);
}

/**
 * @param {string} source
 * @param {string} render the name of a function that the package exports
 * @returns {Promise<string>}
 */
async function renderWith(source, render) {
  const module = await import(pathToFileURL(join(root, source)).href);
  if (typeof module[render] !== "function") throw new Error(`${source} does not export ${render}()`);
  return module[render]();
}
