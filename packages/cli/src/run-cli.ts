import type { ServerInfo } from "@throughline/langgraph-server/admin";
import { closestName } from "@throughline/langgraph-server/settings";
import { type Command, checkArguments, readArguments, UsageError } from "./command.js";
import { budgetsCommand } from "./commands/budgets.js";
import { completionCommand } from "./commands/completion.js";
import { cronsCommand } from "./commands/crons.js";
import { initCommand } from "./commands/init.js";
import { keysCommand } from "./commands/keys.js";
import {
  configCommand,
  doctorCommand,
  renewEpochsCommand,
  retentionCommand,
} from "./commands/maintenance.js";
import { askAgainCommand, retryCommand } from "./commands/rerun.js";
import { runCommand } from "./commands/run.js";
import { serveCommand } from "./commands/serve.js";
import { shareCommand, threadsCommand } from "./commands/threads.js";
import { usageCommand } from "./commands/usage.js";
import { waitingCommand } from "./commands/waiting.js";
import { stopCommand, watchCommand } from "./commands/watch.js";
import { processTerminal, type Terminal } from "./terminal/terminal.js";

export interface CliOptions {
  readonly version?: string;
  readonly terminal?: Terminal;
  /** Defaults of this way to start, by variable. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Aborted when the process is asked to end. */
  readonly signal?: AbortSignal;
  /**
   * Called by `serve` once it answers. Returns what to print instead of the usual welcome, if anything. The service ends
   * if this fails.
   */
  readonly onServing?: (serving: ServerInfo) => Promise<string | undefined>;
}

const ordinary = [
  initCommand,
  serveCommand,
  runCommand,
  watchCommand,
  stopCommand,
  askAgainCommand,
  retryCommand,
  waitingCommand,
  shareCommand,
  threadsCommand,
  cronsCommand,
  usageCommand,
  budgetsCommand,
  keysCommand,
  doctorCommand,
  retentionCommand,
  renewEpochsCommand,
  configCommand,
];
const COMMANDS: readonly Command[] = [...ordinary, completionCommand(ordinary)];

/**
 * Runs `throughline` and returns its exit code: 0 done, 1 failed, 2 called the wrong way, 130 left with Ctrl-C. `serve` exits
 * with 70 when an error leaves the process in doubt.
 */
export async function runCli(argv: readonly string[], options: CliOptions = {}): Promise<number> {
  const { version = "0.0.0", terminal = processTerminal(), defaults = {} } = options;
  const [first, ...rest] = argv;
  try {
    if (first === undefined || first === "--help" || first === "-h") return print(generalHelp(COMMANDS));
    if (first === "--version" || first === "-v") return print(`${version}\n`);
    if (first === "help")
      return print(rest[0] === undefined ? generalHelp(COMMANDS) : commandHelp(commandOf(rest[0])));
    const command = commandOf(first);
    const { values, flags, positionals, wantsHelp } = readArguments(command, rest);
    if (wantsHelp) return print(commandHelp(command));
    checkArguments(command, positionals);
    const signal = options.signal ?? new AbortController().signal;
    const { onServing } = options;
    return await command.run({
      terminal,
      values,
      flags,
      positionals,
      version,
      defaults,
      signal,
      ...(onServing && { onServing }),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    terminal.complain(reason.replace(/\s+/g, " "));
    return error instanceof UsageError ? 2 : 1;
  }

  function print(text: string): number {
    terminal.print(text);
    return 0;
  }
}

function commandOf(typed: string): Command {
  const command = COMMANDS.find(({ name }) => name === typed);
  if (command) return command;
  const names = COMMANDS.map(({ name }) => name);
  const meant = closestName(typed, names);
  const advice = meant ? `Did you mean ${meant}?` : `There is: ${names.join(", ")}.`;
  throw new UsageError(`There is no command "${typed}". ${advice}`);
}

function generalHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 3;
  return [
    "Throughline: run LangGraph agents, watch them live, answer them, stop them.",
    "",
    "  throughline COMMAND …",
    "",
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
    "",
    "  throughline COMMAND --help says more. --version prints the version.",
    "",
    "Exit codes: 0 done, 1 failed, 2 called the wrong way, 130 left with Ctrl-C. NO_COLOR turns colours off.",
    "",
  ].join("\n");
}

function commandHelp({ name, usage, summary, help, options, settings }: Command): string {
  const rows: (readonly [string, string])[] = Object.entries(options).map(
    ([option, { type, doc, placeholder }]) => [
      type === "boolean" ? `--${option}` : `--${option} ${placeholder ?? "VALUE"}`,
      doc,
    ],
  );
  const secrets: string[] = [];
  for (const { flag, placeholder, env, doc, unset } of Object.values(settings)) {
    if (flag === undefined) secrets.push(env);
    else rows.push([`--${flag} ${placeholder}`, `${plain(doc)} ${env}; when not set: ${plain(unset)}`]);
  }
  rows.push(["--help", "this text"]);
  const width = Math.max(...rows.map(([left]) => left.length)) + 3;
  return [
    `${summary}.`,
    "",
    `  throughline ${name} ${usage}`.trimEnd(),
    "",
    help,
    "",
    "Options",
    ...rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`),
    ...(secrets.length > 0 ? ["", `Only in the environment, being secrets: ${secrets.join(", ")}.`] : []),
    "",
  ].join("\n");
}

function plain(text: string): string {
  return text.replaceAll("`", "");
}
