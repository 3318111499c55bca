import { type Caller, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";

/** `private`: one person's. `account`: shared by all people of the account. */
export const visibilitySchema = z.enum(["private", "account"]);
export type Visibility = z.output<typeof visibilitySchema>;

/** Wherever a request names a thread. */
export const threadVisibilitySchema = visibilitySchema
  .optional()
  .describe("Whose thread is meant: the caller's own, or the account's. Default: `private` for a person.");

type Owner = Pick<Caller, "subject">;

/** Of a request that names none: a caller with a subject means their own threads. */
export function visibilityOf({ subject }: Owner): Visibility {
  return subject === undefined ? "account" : "private";
}

/**
 * The caller as they act on threads of that visibility. In an account's thread they act for the account: its address is the one
 * that a caller without a subject has, and its runs find the account's memory and files, never the person's own.
 */
export function callerIn(caller: Caller, visibility: Visibility = visibilityOf(caller)): Caller {
  const { subject, ...account } = caller;
  if (visibility === "account") return account;
  if (subject !== undefined) return caller;
  throw new ThroughlineError(
    "invalid_input",
    "visibility: a caller without a subject has no private threads",
    {
      details: { field: "visibility" },
    },
  );
}
