import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readLanggraphJson } from "@throughline/graph-executor";
import { configOf, type ServerConfig } from "../config/read-config.js";
import { type ReadSettings, readSettings, type SettingSources } from "../config/read-settings.js";
import { SETTINGS } from "../config/settings.js";

/** Where settings come from when a program is started by hand. */
export interface StartedWith {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** A person reads along in a terminal. */
  readonly isAttended: boolean;
  /** Flags that are settings, by the setting's name. */
  readonly flags: Readonly<Record<string, string>>;
  /** Defaults of this way to start, by variable. */
  readonly defaults: Readonly<Record<string, string>>;
}

export interface EffectiveSettings {
  readonly settings: ReadSettings<typeof SETTINGS>;
  readonly config: ServerConfig;
  /** The `langgraph.json` to serve: the one that was named, else that of the folder we are in. */
  readonly project: string | undefined;
  /**
   * The `langgraph.json` that describes the graphs of a LangGraph server: one that was named, or that of the folder we are in. One
   * that is only a default of this way to start may be of other graphs, and describes none.
   */
  readonly describes: string | undefined;
}

/** The settings that `runServer` uses. Throws `invalid_input` where one can't be read. */
export function effectiveSettings({ env, cwd, isAttended, flags, defaults }: StartedWith): EffectiveSettings {
  const { env: variable } = SETTINGS.project;
  const named = flags.project ?? env[variable] ?? "";
  const project = projectOf(named || (defaults[variable] ?? ""), cwd);
  // A person who reads along wants to be gone soon after Ctrl-C.
  const attended = { [SETTINGS.logLevel.env]: "warn", [SETTINGS.drainMs.env]: "2000" };
  const sources: SettingSources = {
    env,
    flags,
    file: project === undefined ? {} : readLanggraphJson(project).env,
    defaults: { ...(isAttended && attended), ...defaults },
  };
  const settings = readSettings(SETTINGS, sources);
  return { settings, config: configOf(settings.values), project, describes: projectOf(named, cwd) };
}

function projectOf(named: string, cwd: string): string | undefined {
  if (named !== "") return resolve(cwd, named);
  const here = resolve(cwd, "langgraph.json");
  return existsSync(here) ? here : undefined;
}
