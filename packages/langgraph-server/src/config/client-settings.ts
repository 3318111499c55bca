import { accountIdSchema, subjectSchema } from "@throughline/ai-core";
import { setting } from "./setting.js";
import { text, urlOf } from "./value-schemas.js";

/** For the commands that talk to a server. */
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
