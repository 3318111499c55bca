import { BILLING_SETTINGS } from "../../config/billing-settings.js";
import { MODEL_SETTINGS } from "../../config/model-settings.js";
import { PLACE_SETTINGS } from "../../config/place-settings.js";
import type { CommandInput } from "../command.js";
import type { CliBilling } from "./use-billing.js";

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
  work: (opened: CliBilling) => Promise<Result>,
): Promise<Result> {
  const { effectiveSettings } = await import("../serve/effective-settings.js");
  const { useBilling } = await import("./use-billing.js");
  return useBilling(effectiveSettings(input).config, work);
}
