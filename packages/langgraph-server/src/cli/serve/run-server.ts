import { dirname, relative } from "node:path";
import { systemClock } from "@throughline/ai-core";
import { failStrayRun, type GraphSource, loadProjectGraphs } from "@throughline/graph-executor";
import { keepCallContextsOf } from "@throughline/langgraph-graphs";
import type { Setting } from "../../config/setting.js";
import { SETTINGS } from "../../config/settings.js";
import { createLogger } from "../../operations/logger.js";
import { meterProcess, startServer } from "../../serve/start-server.js";
import type { CommandInput } from "../command.js";
import type { Terminal } from "../terminal.js";
import { UsageError } from "../usage-error.js";
import { effectiveSettings } from "./effective-settings.js";
import { guardProcess } from "./guard-process.js";
import { type ReloadableGraphs, reloadableGraphs } from "./reloadable-graphs.js";
import { type WatchedFolder, watchFolder } from "./watch-folder.js";
import { welcome } from "./welcome.js";

/** How long runs may go on in a process whose state is in doubt. */
const DOUBTFUL_DRAIN_MS = 1_000;

/** Serves until it is told to end, and returns the exit code. */
export async function runServer(input: CommandInput, isWatching: boolean): Promise<number> {
  const { terminal, version } = input;
  const { settings, config, project } = effectiveSettings(input);
  if (project === undefined && isWatching) {
    throw new UsageError("--watch needs a project: there is no langgraph.json here. Name one with --config.");
  }
  if (project !== undefined && config.backend.kind !== "inproc" && settings.origins.project !== "default") {
    throw new UsageError(
      "--config and a LangGraph server are both set: that server has its own graphs. Unset one.",
    );
  }
  giveToGraphs(input.flags);
  const isOwn = project !== undefined && config.backend.kind === "inproc";
  const fetch = config.billing && meterProcess(config.billing.baseUrl);
  if (fetch && isOwn) await keepCallContextsOf(project);
  const startedAt = systemClock.now();
  const ended = untilEnded(input.signal);
  const graphs = isOwn ? reloadableGraphs(await loadProjectGraphs(project)) : undefined;
  const logger = createLogger({ level: config.logLevel });
  const server = await startServer(config, {
    version,
    logger,
    onProgress: (line) => terminal.note(`  ${line}`),
    fetch,
    ...(graphs && { service: { graphs: graphs.source } }),
  });
  const unguard = guardProcess({
    logger,
    attribute: failStrayRun,
    strayError: server.strayError,
    handOver: () => server.close({ drainMs: DOUBTFUL_DRAIN_MS }),
  });
  const took = ((systemClock.now() - startedAt) / 1_000).toFixed(1);
  terminal.print(`${terminal.paint({ tone: "plain", text: "✓" })} service started (${took} s)\n`);
  try {
    const { url, agents } = server;
    const signIn = config.signIn.kind === "dev" ? "dev" : "jwt";
    terminal.print(
      (await input.onServing?.({ url, agents, signIn })) ?? welcome(url, agents, terminal.paint),
    );
  } catch (error) {
    await server.close();
    unguard();
    throw error;
  }
  const watched = graphs && isOwn && isWatching ? reloadOnChange(terminal, project, graphs) : undefined;
  const code = await ended;
  watched?.close();
  await server.close();
  unguard();
  return code;
}

/** Puts flags that graphs read into the process's environment, where loading a project puts its `env` too. */
function giveToGraphs(flags: CommandInput["flags"]): void {
  for (const [name, { env, isForGraphs }] of Object.entries<Setting>(SETTINGS)) {
    const text = flags[name];
    if (isForGraphs && text !== undefined) process.env[env] = text;
  }
}

function reloadOnChange(terminal: Terminal, project: string, graphs: ReloadableGraphs): WatchedFolder {
  let last: Promise<void> = Promise.resolve();

  async function reload(): Promise<void> {
    try {
      const next: GraphSource = await loadProjectGraphs(project, { again: true });
      const names = (await next.list()).map(({ graphName }) => graphName);
      graphs.replace(next);
      terminal.print(`↻ reloaded: ${names.join(", ")}\n`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      terminal.show([{ tone: "bad", text: `✗ ${reason}` }]);
      terminal.print("\n  The graphs are as they were before this change.\n");
    }
  }

  const folder = dirname(project);
  terminal.note(`  Watching ${relative(terminal.cwd, folder) || "this folder"} for changes.`);
  return watchFolder(folder, {
    clock: systemClock,
    // One reload at a time: the newest files must win, not the fastest import.
    onChange() {
      last = last.then(reload);
    },
  });
}

/** Resolves to the exit code when the server is told to end. Ctrl-C is no failure; a second one exits at once. */
function untilEnded(signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => {
      process.once("SIGINT", () => process.exit(130));
      resolve(0);
    });
    process.once("SIGTERM", () => resolve(143));
    if (signal.aborted) resolve(143);
    signal.addEventListener("abort", () => resolve(143), { once: true });
  });
}
