import { SETTINGS } from "../../config/settings.js";
import { defineCommand } from "../command.js";

export const serveCommand = defineCommand({
  name: "serve",
  summary: "Starts the service, with your own graphs or with the seven that come along",
  usage: "",
  help: [
    "In a folder with a langgraph.json it serves the graphs of that project, TypeScript or JavaScript; elsewhere seven graphs of",
    "its own. Needs no database: without one it brings a PostgreSQL of its own, in .throughline/. Ctrl-C stops everything.",
    "",
    "With --watch the project is read again when one of its files changes. Runs in flight keep the graph they began with, and",
    "a mistake is printed and leaves the graphs as they were.",
    "",
    "  throughline serve",
    "  throughline serve --config my-project/langgraph.json --watch",
    "  throughline serve --port 9000 --log-level debug",
  ].join("\n"),
  settings: Object.fromEntries(Object.entries(SETTINGS).filter(([, { group }]) => group !== "client")),
  words: { min: 0, max: 0 },
  options: { watch: { type: "boolean", doc: "read the project again when a file of it changes" } },
  // Loaded when it is wanted: LangChain takes longer to import than most other commands take in all.
  run: async (input) =>
    (await import("../serve/run-server.js")).runServer(input, input.values.watch === true),
});
