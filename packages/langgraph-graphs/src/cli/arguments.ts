import { parseArgs } from "node:util";
import type { GraphDefinition } from "../graphs/graph-definition.js";
import { closestName } from "./closest-name.js";
import { parseJson, readInput } from "./graph-input.js";
import { UsageError } from "./usage-error.js";

export interface CliArguments {
  readonly definition: GraphDefinition;
  /** What to run first; absent when it is to be asked for. */
  readonly input: unknown;
  readonly json: boolean;
  readonly model: string | undefined;
  readonly paceMs: number | undefined;
  readonly thread: string | undefined;
}

/** Reads the command line; `"help"` when that is what was asked for. Throws `UsageError` with one line. */
export function readArguments(
  argv: readonly string[],
  catalog: readonly GraphDefinition[],
): CliArguments | "help" {
  const { values, positionals } = parse(argv);
  if (values.help || argv.length === 0) return "help";
  const [graphName, ...words] = positionals;
  const definition = findGraph(graphName, catalog);
  if (values.input !== undefined && words.length > 0) {
    throw new UsageError("Give either a text or --input, not both.");
  }
  return {
    definition,
    input: firstInput(definition, values.input, words),
    json: values.json ?? false,
    model: values.model,
    paceMs: values.pace === undefined ? undefined : readPace(values.pace),
    thread: values.thread,
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        json: { type: "boolean" },
        input: { type: "string" },
        model: { type: "string" },
        pace: { type: "string" },
        thread: { type: "string" },
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split(/\.\s/)[0] ?? "") : String(error);
    throw new UsageError(`${reason}. See --help.`);
  }
}

function findGraph(name: string | undefined, catalog: readonly GraphDefinition[]): GraphDefinition {
  const names = catalog.map((definition) => definition.graphName);
  if (name === undefined) throw new UsageError(`Name a graph: ${names.join(", ")}.`);
  const found = catalog.find((definition) => definition.graphName === name);
  if (found) return found;
  const meant = closestName(name, names);
  const hint = meant ? ` Did you mean "${meant}"?` : "";
  throw new UsageError(`There is no graph "${name}".${hint} There are: ${names.join(", ")}.`);
}

function firstInput(definition: GraphDefinition, raw: string | undefined, words: readonly string[]): unknown {
  if (raw !== undefined) return readInput(definition, parseJson(raw, "--input"));
  const text = words.join(" ").trim();
  return text === "" ? undefined : readInput(definition, text);
}

function readPace(text: string): number {
  const pace = Number(text);
  if (text.trim() !== "" && Number.isFinite(pace) && pace >= 0 && pace <= 60_000) return pace;
  throw new UsageError(`--pace takes milliseconds from 0 to 60000, not "${text}".`);
}
