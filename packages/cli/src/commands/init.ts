import { resolve } from "node:path";
import { defineCommand, UsageError } from "../command.js";

export const initCommand = defineCommand({
  name: "init",
  summary: "Makes a project: a graph, its server and a page",
  usage: "[FOLDER]",
  help: [
    "The folder must be empty or not exist; without one, it is the folder you are in. The graph is TypeScript and answers without a",
    "key, from an offline model. In the project, `npm start` runs everything and `npm test` its test.",
    "",
    "  throughline init my-agent",
  ].join("\n"),
  settings: {},
  words: { min: 0, max: 1 },
  options: {
    packages: {
      type: "string",
      placeholder: "FOLDER",
      doc: "install Throughline from tarballs in this folder instead of the registry",
    },
  },
  async run({ terminal, values, positionals }) {
    // Loaded on demand: an image that only serves has no template.
    const { createProject, NotEmptyFolder, nextSteps } = await import("create-throughline");
    const folder = resolve(terminal.cwd, positionals[0] ?? ".");
    const packages = values.packages === undefined ? undefined : resolve(terminal.cwd, values.packages);
    try {
      terminal.print(nextSteps(createProject({ folder, packages }), terminal.cwd));
      return 0;
    } catch (error) {
      throw error instanceof NotEmptyFolder ? new UsageError(error.message) : error;
    }
  },
});
