import type { OpenedBilling } from "@throughline/langgraph-server/admin";
import { BILLING_SETTINGS, MODEL_SETTINGS, PLACE_SETTINGS } from "@throughline/langgraph-server/settings";
import type { CommandInput } from "../command.js";
import { effectiveSettings } from "../effective-settings.js";

const { databaseUrl, databaseDirectUrl, dataDir } = PLACE_SETTINGS;

/** What commands take that work on billing's tables themselves. */
export const BILLING_FLAGS = {
  databaseUrl,
  databaseDirectUrl,
  dataDir,
  ...MODEL_SETTINGS,
  ...BILLING_SETTINGS,
} as const;

/** Works on billing with the settings that `serve` would use. */
export async function withBilling<Result>(
  input: Pick<CommandInput, "terminal" | "flags" | "defaults">,
  work: (opened: OpenedBilling) => Promise<Result>,
): Promise<Result> {
  const { config } = await effectiveSettings(input);
  const { useBilling } = await import("@throughline/langgraph-server/admin");
  return useBilling(config, work);
}
