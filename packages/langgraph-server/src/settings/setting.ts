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

/** The description of one setting, from which the parsers, `--help`, `throughline config` and the reference are generated. */
export interface Setting<Value = unknown> {
  readonly env: string;
  /** The flag without its dashes. Absent for secrets: other users of a machine can read command lines. */
  readonly flag?: string;
  readonly group: SettingGroup;
  /** The description, one sentence. */
  readonly doc: string;
  /** The name of the value in help: `PORT`. */
  readonly placeholder: string;
  readonly schema: z.ZodType<Value, string>;
  /** The default in words. */
  readonly unset: string;
  readonly fallback: Value;
  /** The part that is never printed: the whole value, or the password in a URL, or in each of several URLs with commas between. */
  readonly secret?: "whole" | "password" | "passwords";
  /** Whether graphs read it from the process's environment, so that a value from another source is exported there. */
  readonly isForGraphs?: boolean;
}

type Described<Value> = Omit<Setting<Value>, "fallback" | "unset">;

/** Defines a setting, with a default value or with `unset`, the behaviour without a value. */
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
  // A schema for `Value` is also one for `Value | undefined`; zod's class is invariant and can't express that.
  return { ...described, fallback, unset } as Setting<Value | undefined>;
}

export type SettingTable = Readonly<Record<string, Setting>>;

/** The values of a table, by the settings' names. */
export type ValuesOf<Table> = {
  readonly [Name in keyof Table]: Table[Name] extends Setting<infer Value> ? Value : never;
};
