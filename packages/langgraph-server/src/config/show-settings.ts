import type { Origin, ReadSettings } from "./read-settings.js";
import type { Setting } from "./setting.js";
import { SETTINGS } from "./settings.js";

export interface ShownSetting {
  readonly env: string;
  readonly flag: string | null;
  /** As text, with secrets masked; `null` when there is none. */
  readonly value: string | null;
  readonly origin: Origin;
  /** What happens without a value. */
  readonly unset: string;
  readonly doc: string;
}

const MASK = "********";

/** Every setting as it may be shown to anybody who looks over a shoulder. */
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

/** A database URL may carry its password in the userinfo or, as libpq allows, in the query. */
function maskPassword(text: string): string {
  const url = new URL(text);
  if (url.password !== "") url.password = MASK;
  for (const key of url.searchParams.keys()) {
    if (/pass|secret|token/i.test(key)) url.searchParams.set(key, MASK);
  }
  return url.toString();
}

/** What is no URL is a mere `host:port`. */
function maskAddress(text: string): string {
  return text.includes("://") ? maskPassword(text) : text;
}
