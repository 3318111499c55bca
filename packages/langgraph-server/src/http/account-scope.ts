import { accountIdSchema, subjectSchema, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import type { SignedIn } from "./ingress.js";

/** Names an account, or one person of it. */
export const accountScopeSchema = z.object({
  accountId: accountIdSchema.optional().describe("Another account than the caller's; for trusted services."),
  subject: subjectSchema
    .optional()
    .describe(
      "One person's data; another's is for admins. Without it the caller's own, or the whole account's where the caller is no person.",
    ),
});

export interface AccountScope {
  readonly account: string;
  /** `undefined` is every subject. */
  readonly subject: string | undefined;
}

/** A person acts on their own data; another person's, and all of the account's, needs a permission that goes further. */
export function accountScopeOf(who: SignedIn, asked: z.output<typeof accountScopeSchema>): AccountScope {
  const { billingAccountId, subject: own } = who.caller;
  const isTrusted = who.credentials.isTrustedService === true;
  const account = asked.accountId ?? billingAccountId;
  if (account !== billingAccountId && !isTrusted) {
    throw new ThroughlineError("forbidden", "accountId: another account's data needs a trusted service");
  }
  who.note({ account });
  const subject = asked.subject ?? (isTrusted ? undefined : own);
  const isOwn = subject !== undefined && subject === own && account === billingAccountId;
  who.requireReach(isOwn ? "own" : "everyone");
  return { account, subject };
}
