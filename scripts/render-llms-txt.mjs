// @ts-check
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root, workspacePackages } from "./workspace-packages.mjs";

const ABOUT =
  "The live line between LangGraph agents and the people who watch and steer them: any number of people start runs, leave, come back and " +
  "answer questions of a graph, and all see the same thing, in order, once.";
/** Where a reader begins; the others follow by name. */
const FIRST = ["docs/use-it.md", "docs/cli.md", "docs/client.md", "docs/react.md", "docs/protocol.md"];

/** `llms.txt`: what the docs are, one line each, for programs that read them. */
export function renderLlmsTxt() {
  const docs = [...new Set([...FIRST, ...pages("docs")])];
  const packages = workspacePackages().filter(({ manifest }) => !manifest.private);
  const examples = folders("examples")
    .map((name) => `examples/${name}/README.md`)
    .filter((path) => existsSync(join(root, path)));
  return [
    "# Throughline",
    "",
    `> ${ABOUT}`,
    "",
    "The packages are not published yet: `npm run pack` in a clone makes tarballs to install.",
    "",
    "## Docs",
    "",
    ...docs.map(line),
    "",
    "## Packages",
    "",
    ...packages.map(
      ({ name, folder, manifest }) => `- [${name}](${folder}/README.md): ${manifest.description}`,
    ),
    "",
    ...(examples.length > 0 ? ["## Examples", "", ...examples.map(line), ""] : []),
    "## Decisions",
    "",
    ...pages("docs/adr").map((path) => `- [${titleOf(read(path))}](${path})`),
    "",
  ].join("\n");
}

/** @param {string} path */
function line(path) {
  const text = read(path);
  return `- [${titleOf(text)}](${path}): ${firstSentence(text)}`;
}

/** @param {string} path */
function read(path) {
  return readFileSync(join(root, path), "utf8");
}

/** @param {string} folder */
function pages(folder) {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `${folder}/${name}`);
}

/** @param {string} folder */
function folders(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** @param {string} text */
function titleOf(text) {
  return /^# (.+)$/m.exec(text)?.[1] ?? "";
}

/**
 * The first sentence of the first paragraph, without its links.
 *
 * @param {string} text
 */
export function firstSentence(text) {
  const paragraph = text
    .replace(/<!--[\s\S]*?-->/g, "")
    .split(/\n\s*\n/)
    .map((part) => part.trim())
    .find((part) => /^[\w`*[]/.test(part) && !part.startsWith("```"));
  const plain = (paragraph ?? "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/\s+/g, " ");
  return /^.*?[.:](?= [A-Z`]|$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}
