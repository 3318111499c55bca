import type { z } from "zod";

export type SettingGroup =
  | "address"
  | "storage"
  | "graphs"
  | "models"
  | "sign-in"
  | "limits"
  | "running"
  | "client";

/** Everything there is to know of one setting: the parsers, `--help`, `throughline config` and the reference are made of it. */
export interface Setting<Value = unknown> {
  readonly env: string;
  /** Without its dashes. Absent for secrets: other users of a machine can read command lines. */
  readonly flag?: string;
  readonly group: SettingGroup;
  /** One sentence. */
  readonly doc: string;
  /** What stands for the value in help: `PORT`. */
  readonly placeholder: string;
  readonly schema: z.ZodType<Value, string>;
  /** How the default is said to people. */
  readonly unset: string;
  readonly fallback: Value;
  /** What of it is never printed: all of it, or the password within a URL, or within each of several with commas between. */
  readonly secret?: "whole" | "password" | "passwords";
  /** Read from the process's environment by the graphs themselves, so a value from elsewhere has to be put there. */
  readonly isForGraphs?: boolean;
}

type Described<Value> = Omit<Setting<Value>, "fallback" | "unset">;

/** With a default value, or with `unset`: what happens when there is none. */
export function setting<Value>(
  described: Described<Value> & { readonly fallback: NoInfer<Value>; readonly unset?: string },
): Setting<Value>;
export function setting<Value>(
  described: Described<Value> & { readonly unset: string },
): Setting<Value | undefined>;
export function setting<Value>(
  described: Described<Value> & { readonly fallback?: Value; readonly unset?: string },
): Setting<Value | undefined> {
  const { fallback, unset = String(fallback) } = described;
  // A schema that gives a `Value` gives a `Value | undefined`; zod's class is invariant and can't see that.
  return { ...described, fallback, unset } as Setting<Value | undefined>;
}

export type SettingTable = Readonly<Record<string, Setting>>;

/** What reading a table gives, by the settings' names. */
export type ValuesOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};
