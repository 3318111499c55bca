import type { CliBilling } from "../../billing/open-billing-for-cli.js";
import { BILLING_SETTINGS } from "../../config/billing-settings.js";
import { MODEL_SETTINGS } from "../../config/model-settings.js";
import { PLACE_SETTINGS } from "../../config/place-settings.js";
import type { CommandInput } from "../command.js";

const { databaseUrl, databaseDirectUrl, dataDir } = PLACE_SETTINGS;

/** What commands take that work on billing's tables themselves. */
export const BILLING_FLAGS = {
  databaseUrl,
  databaseDirectUrl,
  dataDir,
  ...MODEL_SETTINGS,
  ...BILLING_SETTINGS,
} as const;

/** Opens billing with the settings that `serve` would use, and closes it afterwards. */
export async function withBilling<Result>(
  input: Pick<CommandInput, "terminal" | "flags" | "defaults">,
  work: (opened: CliBilling) => Promise<Result>,
): Promise<Result> {
  const { effectiveSettings } = await import("../serve/effective-settings.js");
  const { openBillingForCli } = await import("../../billing/open-billing-for-cli.js");
  const opened = await openBillingForCli(effectiveSettings(input).config);
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}
