import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServerEvent } from "@throughline/langgraph-server/admin";
import { SETTINGS } from "@throughline/langgraph-server/settings";
import { defineCommand, UsageError } from "../command.js";
import { readStartConfig } from "../server/local-admin.js";
import type { Terminal } from "../terminal/terminal.js";
import { consoleWelcome, loadConsole, openConsole, welcome } from "./serve-console.js";

const PROGRAM = fileURLToPath(new URL("../bin/throughline.mjs", import.meta.url));

export const serveCommand = defineCommand({
  name: "serve",
  summary: "Starts the service with the graphs of a project",
  usage: "",
  help: [
    "Serves the graphs of the langgraph.json in this folder, or of the one that --config names: TypeScript or JavaScript. Where",
    "there is none, `npm create throughline` makes a project. Needs no database: without LANGGRAPH_DATABASE_URL it starts a",
    "PostgreSQL of its own in .throughline/, from the package @throughline/embedded-postgres. Ctrl-C stops everything.",
    "",
    "With --watch the project is read again when one of its files changes. Runs in flight keep the graph they began with, and",
    "a mistake is printed and leaves the graphs as they were.",
    "",
    "With --console it also runs the pages to watch agents and steer them, from the package @throughline/console.",
    "",
    "  throughline serve",
    "  throughline serve --config my-project/langgraph.json --watch",
    "  throughline serve --port 9000 --log-level debug",
  ].join("\n"),
  settings: Object.fromEntries(Object.entries(SETTINGS).filter(([, { group }]) => group !== "client")),
  words: { min: 0, max: 0 },
  options: {
    watch: { type: "boolean", doc: "read the project again when a file of it changes" },
    console: { type: "boolean", doc: "run the console beside the service" },
  },
  async run(input) {
    const { terminal, flags, version } = input;
    const { config, project, describes } = await readStartConfig(input);
    const isWatching = input.values.watch === true;
    if (project === undefined && isWatching) {
      throw new UsageError(
        "--watch needs a project: there is no langgraph.json here. Name one with --config.",
      );
    }
    const pages = input.values.console
      ? await openConsole(await loadConsole(terminal.cwd), config, terminal)
      : undefined;
    const consoleUrl = config.consoleUrl ?? pages?.url;
    const { runProcesses } = await import("@throughline/langgraph-server/admin");
    try {
      const code = await runProcesses({
        program: {
          script: PROGRAM,
          args: argsOf(flags, isWatching),
          env: {
            ...Object.fromEntries(
              Object.entries(input.defaults).filter(([name]) => terminal.env[name] === undefined),
            ),
            ...(consoleUrl !== undefined && { [SETTINGS.consoleUrl.env]: consoleUrl }),
          },
        },
        config: { ...config, consoleUrl },
        project,
        describes,
        flags,
        isWatching,
        version,
        signal: AbortSignal.any([input.signal, ...(pages ? [pages.lost] : [])]),
        onEvent: (news) => printNews(terminal, news),
        async onServing(serving) {
          const { url, agents } = serving;
          await pages?.start(serving);
          const text = await input.onServing?.(serving);
          if (pages) terminal.print(consoleWelcome(pages.url, serving, terminal.paint, text));
          else terminal.print(text ?? welcome(url, agents, terminal.paint));
        },
      });
      return pages?.lost.aborted ? 1 : code;
    } finally {
      await pages?.stop();
    }
  },
});

/** The arguments that this command was called with, for its child processes. */
function argsOf(flags: Readonly<Record<string, string>>, isWatching: boolean): readonly string[] {
  const settings = Object.entries(SETTINGS).flatMap(([name, { flag }]) => {
    const value = flags[name];
    return flag === undefined || value === undefined ? [] : [`--${flag}`, value];
  });
  return ["serve", ...settings, ...(isWatching ? ["--watch"] : [])];
}

function printNews(terminal: Terminal, news: ServerEvent): void {
  switch (news.kind) {
    case "progress":
      terminal.note(`  ${news.line}`);
      break;
    case "started":
      terminal.print(`✓ service started (${(news.tookMs / 1_000).toFixed(1)} s)\n`);
      break;
    case "watching":
      terminal.note(`  Watching ${relative(terminal.cwd, news.folder) || "this folder"} for changes.`);
      break;
    case "reloaded":
      terminal.print(`↻ reloaded: ${news.graphs.join(", ")}\n`);
      break;
    case "not_reloaded":
      terminal.show([{ tone: "bad", text: `✗ ${news.reason}` }]);
      terminal.print("\n  The graphs are as they were before this change.\n");
      break;
  }
}
