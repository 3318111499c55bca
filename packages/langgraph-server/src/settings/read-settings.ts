import { ThroughlineError } from "@throughline/ai-core";
import type { Setting, SettingTable, ValuesOf } from "./setting.js";
import { SETTINGS, TEST_VARIABLES } from "./settings.js";

/** The source of a value; later ones win: default, file (a project's `env`), env, flag. */
type Origin = "default" | "file" | "env" | "flag";

export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Flags by the settings' names. */
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
 * Reads the settings of a table, which may be a part of all; no other code does. Throws `invalid_input` that names variable or
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
  // Both have an entry for every setting, with the output of that setting's own schema.
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
  const sources: readonly (readonly [Origin, string | undefined])[] = [
    ["flag", flags?.[name]],
    ["env", env[variable]],
    ["file", file?.[variable]],
    ["default", defaults?.[variable]],
  ];
  for (const [origin, text] of sources) {
    // An empty variable counts as unset, as in shells; an empty flag is intended.
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

export interface ShownSetting {
  readonly env: string;
  readonly flag: string | null;
  /** The value as text, with secrets masked; `null` when there is none. */
  readonly value: string | null;
  readonly origin: Origin;
  /** The behaviour without a value. */
  readonly unset: string;
  readonly doc: string;
}

const MASK = "********";

/** Lists every setting in a form that is safe to show, with secrets masked. */
export function showSettings({ values, origins }: ReadSettings<typeof SETTINGS>): readonly ShownSetting[] {
  const shown = new Map<string, unknown>(Object.entries(values));
  const from = new Map<string, Origin>(Object.entries(origins));
  return Object.entries<Setting>(SETTINGS).map(([name, setting]) => ({
    env: setting.env,
    flag: setting.flag === undefined ? null : `--${setting.flag}`,
    value: shownValue(setting, shown.get(name)),
    origin: from.get(name) ?? "default",
    unset: setting.unset,
    doc: setting.doc,
  }));
}

function shownValue({ secret }: Setting, value: unknown): string | null {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.length > 0 ? value.join(",") : null;
  if (secret === "whole") return MASK;
  const shown = String(value);
  if (secret === "passwords") return shown.split(",").map(maskAddress).join(",");
  return secret === "password" ? maskPassword(shown) : shown;
}

/** Masks a database URL's password, which may be in the userinfo or, as libpq allows, in the query. */
function maskPassword(text: string): string {
  const url = new URL(text);
  if (url.password !== "") url.password = MASK;
  for (const key of url.searchParams.keys()) {
    if (/pass|secret|token/i.test(key)) url.searchParams.set(key, MASK);
  }
  return url.toString();
}

/** Parses an address. A text that is not a URL is a plain `host:port`. */
function maskAddress(text: string): string {
  return text.includes("://") ? maskPassword(text) : text;
}
/** Returns the name that a person most likely meant, or `undefined` when none is close enough to suggest. */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase();
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    const distance = editDistance(wanted, name.toLowerCase());
    if (!best || distance < best.distance) best = { name, distance };
  }
  return best && best.distance <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** Counts letters added, removed, replaced or swapped with their neighbour; O(n·m), for names of a few dozen letters. */
function editDistance(from: string, to: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
