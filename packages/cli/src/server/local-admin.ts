import type { EffectiveSettings, OpenedBilling, StartedWith } from "@throughline/langgraph-server/admin";
import { BILLING_SETTINGS, MODEL_SETTINGS, PLACE_SETTINGS } from "@throughline/langgraph-server/settings";
import { type CommandInput, readingSettings } from "../command.js";

type Started = Pick<CommandInput, "terminal" | "flags" | "defaults">;

export function startedWith({ terminal, flags, defaults }: Started): StartedWith {
  const { env, cwd, output } = terminal;
  return { env, cwd, isAttended: output.isTTY === true, flags, defaults };
}

/** The settings that `serve` uses and other commands read. A setting that can't be read is a usage error. */
export async function effectiveSettings(input: Started): Promise<EffectiveSettings> {
  // Loaded on demand: LangChain takes longer to import than most other commands take in all.
  const admin = await import("@throughline/langgraph-server/admin");
  return readingSettings(() => admin.effectiveSettings(startedWith(input)));
}

const { databaseUrl, databaseDirectUrl, dataDir } = PLACE_SETTINGS;

/** The flags of commands that open billing's tables themselves. */
export const BILLING_FLAGS = {
  databaseUrl,
  databaseDirectUrl,
  dataDir,
  ...MODEL_SETTINGS,
  ...BILLING_SETTINGS,
} as const;

/** Opens billing with the settings that `serve` would use, runs `work` and closes it. */
export async function withBilling<Result>(
  input: Pick<CommandInput, "terminal" | "flags" | "defaults">,
  work: (opened: OpenedBilling) => Promise<Result>,
): Promise<Result> {
  const { config } = await effectiveSettings(input);
  const { useBilling } = await import("@throughline/langgraph-server/admin");
  return useBilling(config, work);
}
