import { parseArgs } from "node:util";
import { closestName } from "@throughline/langgraph-server/settings";
import type { Command, Options, OptionValues } from "./command.js";
import { UsageError } from "./usage-error.js";

export interface ReadArguments {
  readonly values: OptionValues<Options>;
  readonly flags: Readonly<Record<string, string>>;
  readonly positionals: readonly string[];
  readonly wantsHelp: boolean;
}

/** Reads what follows a command's name. Throws `UsageError` with one line that says what to type instead. */
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
  // Not strict, because Node's own sentences do not say which option was meant.
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

/** Throws when there are too few words, or too many. */
export function checkWords({ name, usage, words }: Command, given: readonly string[]): void {
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
