import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { RunningConsole } from "@throughline/console";
import type { ServerInfo } from "@throughline/langgraph-server/admin";
import { UsageError } from "../command.js";
import type { Paint, Terminal } from "../terminal/terminal.js";

type ConsolePackage = typeof import("@throughline/console");

const NAME = "@throughline/console";

/**
 * Loads the console's package, if it is installed: in the project that is served, which is where pnpm puts it, or next to this
 * command. It is a package of its own because most installs of the command need no pages.
 */
export async function loadConsole(cwd: string, find = findFrom): Promise<ConsolePackage> {
  for (const importer of [join(cwd, "package.json"), fileURLToPath(import.meta.url)]) {
    const path = find(importer);
    // The types of the package describe its exports.
    if (path !== undefined) return (await import(pathToFileURL(path).href)) as ConsolePackage;
  }
  throw new UsageError(`--console needs ${NAME}, which is not installed here. Run: npm install ${NAME}`);
}

/** The file that an import in `importer` would load. */
function findFrom(importer: string): string | undefined {
  try {
    return createRequire(importer).resolve(NAME);
  } catch {
    return undefined;
  }
}

export interface OpenedConsole {
  /** The console's address once it was started. */
  readonly url: string;
  /** Aborted when the console ended and starting it again did not help. */
  readonly lost: AbortSignal;
  /** Starts the console for a service that runs. */
  start(serving: ServerInfo): Promise<void>;
  stop(): Promise<void>;
}

export interface ConsoleAddress {
  readonly host: string;
  readonly consolePort: number | undefined;
}

/**
 * Runs the console for as long as its service: neither is of use to a person without the other. Its port is chosen before
 * the service starts, because the service publishes the console's address.
 */
export async function openConsole(
  { addressOf, consolePort, reachableUrl, startConsole }: typeof import("@throughline/console"),
  { host, consolePort: wanted }: ConsoleAddress,
  terminal: Terminal,
): Promise<OpenedConsole> {
  const lost = new AbortController();
  const port = await consolePort(host, wanted);
  let running: RunningConsole | undefined;
  return {
    url: reachableUrl(addressOf(host, port)),
    lost: lost.signal,
    async start({ url, signIn }) {
      running = await startConsole({
        host,
        port,
        serviceUrl: reachableUrl(url),
        signIn: signIn === "dev" ? "account" : "token",
        onTrouble: (sentence) => terminal.complain(sentence),
        onLost(sentence) {
          terminal.complain(`${sentence} Everything is stopped.`);
          lost.abort();
        },
      });
    },
    stop: async () => running?.stop(),
  };
}

/** The text after a server has started: its address, and the commands to try next. */
export function welcome(url: string, agents: readonly string[], paint: Paint): string {
  const names = agents.map((id) => id.replace(/^langgraph:/, ""));
  const agent = names.includes("poet") ? "poet" : (names[0] ?? "AGENT");
  const post = (path: string, body: object) =>
    `curl -sN ${url}/api/copilotkit/agent/${agent}${path} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  const thread = { threadId: "rivers" };
  return [
    "",
    `  ${paint({ tone: "strong", text: url })}`,
    `  agents: ${names.join(", ")}`,
    "",
    "  Try next, in another terminal. Watch a thread:",
    `    ${post("/connect?follow=true", thread)}`,
    "  Run the agent in it:",
    `    ${post("/run", { ...thread, messages: [{ role: "user", content: "a line about rivers" }] })}`,
    "  Stop it half-way:",
    `    ${post("/stop/rivers", {})}`,
    "  The same for people:",
    `    npx throughline watch ${agent} rivers --url ${url}`,
    "",
    paint({ tone: "dim", text: "  Ctrl-C stops everything." }),
    "",
  ].join("\n");
}

/** The text after a server has started with a console, whose address comes first, because a person opens it next. */
export function consoleWelcome(
  consoleUrl: string,
  { url, agents }: ServerInfo,
  paint: Paint,
  more = `\n  service   ${url}\n`,
): string {
  const names = agents.map((id) => id.replace(/^langgraph:/, ""));
  return [
    "",
    `  console   ${paint({ tone: "strong", text: consoleUrl })}`,
    `  agents    ${names.join(", ")}`,
    more.replace(/^\n|\n$/g, ""),
    "",
    paint({ tone: "dim", text: "  Ctrl-C stops everything." }),
    "",
  ].join("\n");
}
