import { dirname } from "node:path";
import { systemClock } from "@throughline/ai-core";
import {
  failRunOfUnhandledError,
  type GraphSource,
  loadProjectGraphs,
  readLanggraphJson,
} from "@throughline/graph-executor";
import { bindCallContextsOf } from "@throughline/langgraph-models";
import { createLogger } from "../operations/logging.js";
import type { StartConfig } from "../settings/server-config.js";
import type { Setting } from "../settings/setting.js";
import { SETTINGS } from "../settings/settings.js";
import { guardProcess } from "./guard-process.js";
import {
  type ReloadableGraphs,
  reloadableGraphs,
  type WatchedFolder,
  watchFolder,
} from "./project-reload.js";
import { meterProcess, type ServeOptions, startServer } from "./start-server.js";

/** Drain time of a process that is failing: its state is in doubt. */
const FAILING_DRAIN_MS = 1_000;

/** A service that has just started to serve. */
export interface ServerInfo {
  readonly url: string;
  /** Ids of its agents. */
  readonly agents: readonly string[];
  /** `dev`: a request's headers name the person, on this machine only. */
  readonly signIn: "dev" | "jwt";
}

/** An event of the server, for the person who started it. */
export type ServerEvent =
  | { readonly kind: "progress"; readonly line: string }
  | { readonly kind: "started"; readonly tookMs: number }
  | { readonly kind: "watching"; readonly folder: string }
  | { readonly kind: "reloaded"; readonly graphs: readonly string[] }
  /** The previous graphs remain in use. */
  | { readonly kind: "not_reloaded"; readonly reason: string };

export interface RunServerOptions extends Pick<StartConfig, "config" | "project" | "describes"> {
  /** Flags that are settings, by the setting's name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Reloads the project when one of its files changes. */
  readonly isWatching: boolean;
  readonly version: string;
  /** Ends the service. */
  readonly signal: AbortSignal;
  readonly onEvent: (news: ServerEvent) => void;
  readonly shareMetrics?: ServeOptions["shareMetrics"];
  /** Called once it serves. The service ends if this fails. */
  readonly onServing: (serving: ServerInfo) => Promise<void>;
}

/** Serves until shutdown, and returns the exit code. */
export async function runServer(options: RunServerOptions): Promise<number> {
  const { config, project, onEvent } = options;
  exportGraphSettings(options.flags);
  const isOwn = project !== undefined && config.backend.kind === "inproc";
  const fetch = config.billing && meterProcess(config.billing.baseUrl);
  if (fetch && isOwn) await bindCallContextsOf(project);
  const startedAt = systemClock.now();
  const ended = untilShutdown(options.signal);
  const logger = createLogger({ level: config.logLevel });
  const onWarning = (sentence: string) => logger.warn({}, sentence);
  const graphs = isOwn ? reloadableGraphs(await loadProjectGraphs(project, { onWarning })) : undefined;
  const server = await startServer(config, {
    version: options.version,
    logger,
    onProgress: (line) => onEvent({ kind: "progress", line }),
    fetch,
    ...(options.shareMetrics && { shareMetrics: options.shareMetrics }),
    ...(graphs && { service: { graphs: graphs.source } }),
    ...(options.describes !== undefined &&
      !isOwn && { declared: readLanggraphJson(options.describes).graphs }),
  });
  const unguard = guardProcess({
    logger,
    attribute: failRunOfUnhandledError,
    strayError: server.strayError,
    handOver: () => server.close({ drainMs: FAILING_DRAIN_MS }),
  });
  onEvent({ kind: "started", tookMs: systemClock.now() - startedAt });
  try {
    const { url, agents } = server;
    await options.onServing({ url, agents, signIn: config.signIn.kind === "dev" ? "dev" : "jwt" });
  } catch (error) {
    await server.close();
    unguard();
    throw error;
  }
  const watched =
    graphs && isOwn && options.isWatching ? reloadOnChange(onEvent, project, graphs) : undefined;
  const code = await ended;
  watched?.close();
  await server.close();
  unguard();
  return code;
}

/** Exports flags that graphs read to the process's environment, where loading a project puts its `env` too. */
function exportGraphSettings(flags: RunServerOptions["flags"]): void {
  for (const [name, { env, isForGraphs }] of Object.entries<Setting>(SETTINGS)) {
    const text = flags[name];
    if (isForGraphs && text !== undefined) process.env[env] = text;
  }
}

function reloadOnChange(
  onEvent: RunServerOptions["onEvent"],
  project: string,
  graphs: ReloadableGraphs,
): WatchedFolder {
  let last: Promise<void> = Promise.resolve();

  async function reload(): Promise<void> {
    try {
      const next: GraphSource = await loadProjectGraphs(project, { again: true });
      const names = (await next.list()).map(({ graphName }) => graphName);
      graphs.replace(next);
      onEvent({ kind: "reloaded", graphs: names });
    } catch (error) {
      onEvent({ kind: "not_reloaded", reason: error instanceof Error ? error.message : String(error) });
    }
  }

  const folder = dirname(project);
  onEvent({ kind: "watching", folder });
  return watchFolder(folder, {
    clock: systemClock,
    // One reload at a time: the newest files must win, not the fastest import.
    onChange() {
      last = last.then(reload);
    },
  });
}
/** Resolves to the exit code at a shutdown request. Ctrl-C is no failure; a second one exits at once. */
export function untilShutdown(signal: AbortSignal): Promise<number> {
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
