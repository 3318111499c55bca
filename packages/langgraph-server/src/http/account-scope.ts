import { accountIdSchema, subjectSchema, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import type { SignedIn } from "./ingress.js";

/** Names an account, or one person of it. */
export const accountScopeSchema = z.object({
  accountId: accountIdSchema.optional().describe("Another account than the caller's; for trusted services."),
  subject: subjectSchema
    .optional()
    .describe(
      "One person's data. Without it the caller's own, or the whole account's where the caller is no person.",
    ),
});

export interface AccountScope {
  readonly account: string;
  /** `undefined` is every subject. */
  readonly subject: string | undefined;
}

/** A person acts on their own data. A caller without a subject, and a trusted service, act for the account. */
export function accountScopeOf(
  { caller, credentials }: SignedIn,
  asked: z.output<typeof accountScopeSchema>,
): AccountScope {
  const { billingAccountId, subject } = caller;
  const isTrusted = credentials.isTrustedService === true;
  const account = asked.accountId ?? billingAccountId;
  if (account !== billingAccountId && !isTrusted) {
    throw new ThroughlineError("forbidden", "accountId: another account's data needs a trusted service");
  }
  if (subject === undefined || isTrusted) return { account, subject: asked.subject };
  if (asked.subject === undefined || asked.subject === subject) return { account, subject };
  throw new ThroughlineError("forbidden", "subject: another person's data is the account's to ask for");
}
