import type { Serving } from "@throughline/langgraph-server/admin";
import type { SettingTable } from "@throughline/langgraph-server/settings";
import type { Terminal } from "./terminal.js";

export interface Option {
  readonly type: "string" | "boolean";
  readonly doc: string;
  readonly placeholder?: string;
}
export type Options = Readonly<Record<string, Option>>;

type ValueOf<Type extends Option["type"]> = Type extends "boolean" ? boolean : string;
export type OptionValues<Given extends Options> = {
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
  readonly onServing?: (serving: Serving) => Promise<string | undefined>;
}

export interface Command {
  readonly name: string;
  /** One line of the list of commands. */
  readonly summary: string;
  /** What follows the name: `AGENT THREAD`. */
  readonly usage: string;
  /** A paragraph or two, and examples. */
  readonly help: string;
  readonly options: Options;
  /** The settings that are flags of this command. */
  readonly settings: SettingTable;
  /** How many words it takes beside its flags. */
  readonly words: { readonly min: number; readonly max: number };
  /** What the first word may be, for completion and for help. */
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
