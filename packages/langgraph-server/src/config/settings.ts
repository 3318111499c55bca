import { ATTACHMENT_SETTINGS } from "./attachment-settings.js";
import { AUDIT_SETTINGS } from "./audit-settings.js";
import { BILLING_SETTINGS } from "./billing-settings.js";
import { CLIENT_SETTINGS } from "./client-settings.js";
import { LIMIT_SETTINGS } from "./limit-settings.js";
import { MODEL_SETTINGS } from "./model-settings.js";
import { PLACE_SETTINGS } from "./place-settings.js";
import { RETENTION_SETTINGS } from "./retention-settings.js";
import { RUNNING_SETTINGS } from "./running-settings.js";
import type { ValuesOf } from "./setting.js";
import { SIGN_IN_SETTINGS } from "./sign-in-settings.js";

/** Every setting there is. Adding one is adding an entry to one of these: its value is then in `SettingValues` by its name. */
export const SETTINGS = {
  ...PLACE_SETTINGS,
  ...RETENTION_SETTINGS,
  ...AUDIT_SETTINGS,
  ...MODEL_SETTINGS,
  ...BILLING_SETTINGS,
  ...SIGN_IN_SETTINGS,
  ...LIMIT_SETTINGS,
  ...ATTACHMENT_SETTINGS,
  ...RUNNING_SETTINGS,
  ...CLIENT_SETTINGS,
};

export type SettingValues = ValuesOf<typeof SETTINGS>;

/** Begin like settings of ours and are read by tests alone. */
export const TEST_VARIABLES: ReadonlySet<string> = new Set(
  [
    "KILL_TRIALS",
    "LITELLM_DATABASE",
    "MODEL_CASES",
    "MODEL_PATH",
    "MODEL_RESTARTS_ONE_IN",
    "PROPERTY_RUNS",
    "SEED",
    "TRIALS",
    "UPDATE_GOLDENS",
  ].map((name) => `THROUGHLINE_${name}`),
);
