import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { readLanggraphJson } from "@throughline/graph-executor";
import { configOf, type ServerConfig } from "../../config/read-config.js";
import { type ReadSettings, readSettings, type SettingSources } from "../../config/read-settings.js";
import { SETTINGS } from "../../config/settings.js";
import type { CommandInput } from "../command.js";
import { readingSettings } from "../usage-error.js";

export interface EffectiveSettings {
  readonly settings: ReadSettings<typeof SETTINGS>;
  readonly config: ServerConfig;
  /** The `langgraph.json` to serve: the one that was named, else that of the folder we are in. */
  readonly project: string | undefined;
}

/** What `serve` would use, and `config` and `doctor` look at. */
export function effectiveSettings(input: Started): EffectiveSettings {
  return readingSettings(() => readEffective(input));
}

type Started = Pick<CommandInput, "terminal" | "flags" | "defaults">;

function readEffective({ terminal, flags, defaults }: Started): EffectiveSettings {
  const project = projectOf(flags.project ?? terminal.env[SETTINGS.project.env] ?? "", terminal.cwd);
  // In a terminal a person reads along, and wants to be gone soon after Ctrl-C.
  const attended = { [SETTINGS.logLevel.env]: "warn", [SETTINGS.drainMs.env]: "2000" };
  const sources: SettingSources = {
    env: terminal.env,
    flags,
    file: project === undefined ? {} : readLanggraphJson(project).env,
    defaults: { ...(terminal.output.isTTY === true && attended), ...defaults },
  };
  const settings = readSettings(SETTINGS, sources);
  return { settings, config: configOf(settings.values), project };
}

function projectOf(named: string, cwd: string): string | undefined {
  if (named !== "") return resolve(cwd, named);
  const here = resolve(cwd, "langgraph.json");
  return existsSync(here) ? here : undefined;
}
