import type { OpenedBilling, StartConfig, StartContext } from "@throughline/langgraph-server/admin";
import { BILLING_SETTINGS, MODEL_SETTINGS, STORAGE_SETTINGS } from "@throughline/langgraph-server/settings";
import { type CommandInput, readingSettings } from "../command.js";

type Started = Pick<CommandInput, "terminal" | "flags" | "defaults">;

export function startedWith({ terminal, flags, defaults }: Started): StartContext {
  const { env, cwd, output } = terminal;
  return { env, cwd, isAttended: output.isTTY === true, flags, defaults };
}

/** The settings that `serve` uses and other commands read. A setting that can't be read is a usage error. */
export async function readStartConfig(input: Started): Promise<StartConfig> {
  // Loaded on demand: LangChain takes longer to import than most other commands take in all.
  const admin = await import("@throughline/langgraph-server/admin");
  return readingSettings(() => admin.readStartConfig(startedWith(input)));
}

const { databaseUrl, databaseDirectUrl, dataDir } = STORAGE_SETTINGS;

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
  const { config } = await readStartConfig(input);
  const { useBilling } = await import("@throughline/langgraph-server/admin");
  return useBilling(config, work);
}
