import { accountIdSchema, subjectSchema } from "@throughline/ai-core";
import { ATTACHMENT_SETTINGS, LIMIT_SETTINGS, RETENTION_SETTINGS } from "./limit-settings.js";
import { BILLING_SETTINGS, MODEL_SETTINGS } from "./model-settings.js";
import { AUDIT_SETTINGS, RUNNING_SETTINGS, SIGN_IN_SETTINGS } from "./server-settings.js";
import { setting, type ValuesOf } from "./setting.js";
import { STORAGE_SETTINGS } from "./storage-settings.js";
import { text, urlOf } from "./value-schemas.js";

/** Settings of commands that connect to a server. */
export const CLIENT_SETTINGS = {
  url: setting({
    env: "THROUGHLINE_URL",
    flag: "url",
    group: "client",
    placeholder: "URL",
    doc: "The server that commands talk to.",
    schema: urlOf("http:", "https:"),
    fallback: "http://127.0.0.1:8000",
  }),
  token: setting({
    env: "THROUGHLINE_TOKEN",
    group: "client",
    placeholder: "TOKEN",
    doc: "The JWT that commands sign in with.",
    schema: text,
    unset: "dev sign-in",
    secret: "whole",
  }),
  account: setting({
    env: "THROUGHLINE_ACCOUNT",
    flag: "account",
    group: "client",
    placeholder: "NAME",
    doc: "The account to be with dev sign-in.",
    schema: accountIdSchema,
    unset: "`dev`",
  }),
  subject: setting({
    env: "THROUGHLINE_SUBJECT",
    flag: "subject",
    group: "client",
    placeholder: "NAME",
    doc: "The person to be, inside that account.",
    schema: subjectSchema,
    unset: "none: threads of the whole account",
  }),
} as const;

/** All settings. To add one, add an entry to one of these tables: its value is then in `SettingValues` by its name. */
export const SETTINGS = {
  ...STORAGE_SETTINGS,
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

/** Variables that begin like our settings and are read by tests only. */
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
