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
    render: exportOf("packages/langgraph-graphs", "renderLanggraphJson"),
  },
  {
    file: "apps/demo/langgraph.json",
    render: exportOf("packages/langgraph-graphs", "renderInstalledLanggraphJson"),
  },
  { file: "docs/envelope.schema.json", render: exportOf("packages/ai-core", "renderEnvelopeJsonSchema") },
  {
    file: "docs/configuration.md",
    render: exportOf("packages/langgraph-server", "renderConfigurationReference"),
  },
  { file: "docs/roles.md", render: exportOf("packages/langgraph-server", "renderRoles") },
  { file: "docs/openapi.json", render: exportOf("packages/langgraph-server", "renderOpenApi") },
  {
    file: "patches/@ag-ui__langgraph@0.0.43.patch",
    render: exportOf("patches/ag-ui-langgraph", "renderPatch", "render-patch.mjs"),
  },
  {
    file: "pnpm-lock.yaml",
    render: exportOf("patches/ag-ui-langgraph", "renderLockfile", "render-patch.mjs"),
  },
  // Last: it reads what the others wrote.
  { file: "llms.txt", render: async () => renderLlmsTxt() },
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
for (const { file, render } of generated) {
  const text = await render();
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
 * A function of a package's, asked late, when the package is built.
 *
 * @param {string} folder
 * @param {string} name
 * @param {string} [file] where it is; a package's own entry by default
 * @returns {() => Promise<string>}
 */
function exportOf(folder, name, file = "dist/index.js") {
  return async () => {
    const module = await import(pathToFileURL(join(root, folder, file)).href);
    if (typeof module[name] !== "function") throw new Error(`${folder} does not export ${name}()`);
    return module[name]();
  };
}
