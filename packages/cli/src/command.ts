import { parseArgs } from "node:util";
import { ThroughlineError } from "@throughline/ai-core";
import type { ServerInfo } from "@throughline/langgraph-server/admin";
import { closestName, type SettingTable } from "@throughline/langgraph-server/settings";
import type { Terminal } from "./terminal/terminal.js";

export interface Option {
  readonly type: "string" | "boolean";
  readonly doc: string;
  readonly placeholder?: string;
}
type Options = Readonly<Record<string, Option>>;

type ValueOf<Type extends Option["type"]> = Type extends "boolean" ? boolean : string;
type OptionValues<Given extends Options> = {
  readonly [Name in keyof Given]: ValueOf<Given[Name]["type"]> | undefined;
};

export interface CommandInput<Given extends Options = Options> {
  readonly terminal: Terminal;
  readonly values: OptionValues<Given>;
  /** Flags that are settings, by the setting's name. */
  readonly flags: Readonly<Record<string, string>>;
  readonly positionals: readonly string[];
  readonly version: string;
  /** Defaults of this way to start, by variable. */
  readonly defaults: Readonly<Record<string, string>>;
  /** Aborted when the process is asked to end. */
  readonly signal: AbortSignal;
  /** Called once it serves. Returns what to print instead of the usual welcome, if anything. The service ends if this fails. */
  readonly onServing?: (serving: ServerInfo) => Promise<string | undefined>;
}

export interface Command {
  readonly name: string;
  /** One line of the list of commands. */
  readonly summary: string;
  /** The arguments after the name: `AGENT THREAD`. */
  readonly usage: string;
  /** A paragraph or two, and examples. */
  readonly help: string;
  readonly options: Options;
  /** The settings that are flags of this command. */
  readonly settings: SettingTable;
  /** The number of words that it takes, without its flags. */
  readonly words: { readonly min: number; readonly max: number };
  /** The actions that the first word may name, for completion and for help. */
  readonly actions?: readonly string[];
  run(input: CommandInput): Promise<number>;
}

/** A command whose `run` sees the options it names, typed. */
export function defineCommand<Given extends Options>(
  command: Omit<Command, "options" | "run"> & {
    readonly options: Given;
    run(input: CommandInput<Given>): Promise<number>;
  },
): Command {
  return {
    ...command,
    // The reader gives every command the values of exactly the options it names.
    run: (input) => command.run(input as CommandInput<Given>),
  };
}

export interface ReadArguments {
  readonly values: OptionValues<Options>;
  readonly flags: Readonly<Record<string, string>>;
  readonly positionals: readonly string[];
  readonly wantsHelp: boolean;
}

/** Parses the arguments after a command's name. Throws `UsageError` with one line that gives the correct usage. */
export function readArguments(command: Command, argv: readonly string[]): ReadArguments {
  const settings = new Map(
    Object.entries(command.settings).flatMap(([name, { flag }]) =>
      flag === undefined ? [] : [[flag, name]],
    ),
  );
  const kinds = new Map<string, "string" | "boolean">([
    ...[...settings.keys()].map((flag) => [flag, "string"] as const),
    ...Object.entries(command.options).map(([name, { type }]) => [name, type] as const),
    ["help", "boolean"],
  ]);
  // Not strict, because Node's own messages do not suggest the option that was meant.
  const { tokens } = parseArgs({
    args: [...argv],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries([...kinds].map(([name, type]) => [name, { type }])),
  });
  const values = new Map<string, string | boolean>();
  const flags = new Map<string, string>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const name = token.rawName === "-h" ? "help" : token.name;
    const kind = token.rawName.startsWith("--") || name === "help" ? kinds.get(name) : undefined;
    if (kind === undefined) throw unknownOption(command, token.rawName, [...kinds.keys()]);
    if (kind === "boolean" && token.value !== undefined) throw new UsageError(`--${name} takes no value.`);
    if (kind === "boolean") values.set(name, true);
    else {
      const value = token.value;
      if (value === undefined || (token.inlineValue === false && /^--?[a-z]/i.test(value))) {
        throw new UsageError(`--${name} needs a value, as --${name} ${placeholderOf(command, name)}.`);
      }
      const setting = settings.get(name);
      if (setting === undefined) values.set(name, value);
      else flags.set(setting, value);
    }
  }
  return {
    values: Object.fromEntries(values),
    flags: Object.fromEntries(flags),
    positionals,
    wantsHelp: values.get("help") === true,
  };
}

/** Throws `UsageError` when there are too few words, or too many. */
export function checkArguments({ name, usage, words }: Command, given: readonly string[]): void {
  if (given.length >= words.min && given.length <= words.max) return;
  const extra = given[words.max];
  const why = extra === undefined ? "Something is missing" : `"${extra}" is too much`;
  throw new UsageError(`${why}: throughline ${name} ${usage}`.trim());
}

function placeholderOf({ options, settings }: Command, flag: string): string {
  const setting = Object.values(settings).find((each) => each.flag === flag);
  return setting?.placeholder ?? options[flag]?.placeholder ?? "VALUE";
}

function unknownOption({ name }: Command, typed: string, known: readonly string[]): UsageError {
  const meant = closestName(typed.replace(/^-+/, ""), known);
  const advice = meant ? `Did you mean --${meant}?` : `See throughline ${name} --help.`;
  return new UsageError(`There is no option ${typed}. ${advice}`);
}

/** Parses the action that a command's first word names. */
export function parseAction<Action extends string>(
  command: string,
  typed: string,
  actions: readonly Action[],
): Action {
  const action = actions.find((each) => each === typed);
  if (action !== undefined) return action;
  const meant = closestName(typed, actions);
  const advice = meant ? `Did you mean ${meant}?` : `There is: ${actions.join(", ")}.`;
  throw new UsageError(`There is no "${command} ${typed}". ${advice}`);
}

/** A mistake in how a command was called: one line on stderr and exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Reads settings, and reports one that is invalid as a usage error, whether it came as a flag or as a variable. */
export function readingSettings<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    const isMistake = error instanceof ThroughlineError && error.code === "invalid_input";
    throw isMistake ? new UsageError(error.message) : error;
  }
}
