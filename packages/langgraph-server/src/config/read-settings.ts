import { ThroughlineError } from "@throughline/ai-core";
import { closestName } from "./closest-name.js";
import type { Setting, SettingTable, ValuesOf } from "./setting.js";
import { SETTINGS, TEST_VARIABLES } from "./settings.js";

/** Where a value came from; later ones win: default, file (a project's `env`), env, flag. */
export type Origin = "default" | "file" | "env" | "flag";

export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By the settings' names. */
  readonly flags?: Readonly<Record<string, string | undefined>>;
  /** Variables of a project's `langgraph.json`. */
  readonly file?: Readonly<Record<string, string | undefined>>;
  /** Defaults of this way to start, by variable. */
  readonly defaults?: Readonly<Record<string, string>>;
}

export interface ReadSettings<Table> {
  readonly values: ValuesOf<Table>;
  readonly origins: { readonly [Name in keyof Table]: Origin };
}

/**
 * The one reading of settings: those of the table, which may be a part of all. Throws `invalid_input` that names variable or
 * flag; never its value, which may be a secret.
 */
export function readSettings<Table extends SettingTable>(
  table: Table,
  sources: SettingSources,
): ReadSettings<Table> {
  refuseUnknown(sources.env);
  refuseUnknown(sources.file ?? {});
  const values: [string, unknown][] = [];
  const origins: [string, Origin][] = [];
  for (const [name, setting] of Object.entries(table)) {
    const found = findText(name, setting.env, sources);
    origins.push([name, found?.origin ?? "default"]);
    values.push([name, found ? parse(setting, found) : setting.fallback]);
  }
  // Each has an entry for every setting, with what that setting's own schema gave.
  return { values: Object.fromEntries(values), origins: Object.fromEntries(origins) } as ReadSettings<Table>;
}

interface Found {
  readonly text: string;
  readonly origin: Origin;
}

function findText(
  name: string,
  variable: string,
  { flags, env, file, defaults }: SettingSources,
): Found | undefined {
  const places: readonly (readonly [Origin, string | undefined])[] = [
    ["flag", flags?.[name]],
    ["env", env[variable]],
    ["file", file?.[variable]],
    ["default", defaults?.[variable]],
  ];
  for (const [origin, text] of places) {
    // An empty variable is one that was unset the shell's way; an empty flag was meant.
    if (text !== undefined && (text !== "" || origin === "flag")) return { text, origin };
  }
  return undefined;
}

function parse({ env, flag, schema }: Setting, { text, origin }: Found): unknown {
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const why = issue?.code === "too_small" ? "must not be empty" : (issue?.message ?? "is not valid");
  throw refused(env, `${origin === "flag" ? `--${flag}` : env} ${why}.`);
}

function refuseUnknown(variables: Readonly<Record<string, string | undefined>>): void {
  const known = Object.values<Setting>(SETTINGS).map(({ env }) => env);
  for (const name of Object.keys(variables)) {
    if (!name.startsWith("THROUGHLINE_") || known.includes(name) || TEST_VARIABLES.has(name)) continue;
    const meant = closestName(name, known);
    const advice = meant ? `Did you mean ${meant}?` : "`throughline config` lists those there are.";
    throw refused(name, `${name} is not a setting. ${advice}`);
  }
}

function refused(field: string, message: string): ThroughlineError {
  return new ThroughlineError("invalid_input", message, { details: { field } });
}
