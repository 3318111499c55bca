import { accountIdSchema, invalidInput, subjectSchema, ThroughlineError } from "@throughline/ai-core";
import type { CallerResolver } from "./caller-resolver.js";
import { isLoopbackAddress, isLoopbackHost } from "./loopback.js";

const DEV_ACCOUNT = "dev";
export const DEV_VIRTUAL_KEY_ID = "dev";
export const DEV_ACCOUNT_HEADER = "x-throughline-account";
export const DEV_SUBJECT_HEADER = "x-throughline-subject";

/**
 * Nobody signs in: whoever is on this machine is the account they say they are. The `Host` is checked as well as the
 * address, because a page on the internet can point a name of its own at 127.0.0.1 and let a browser ask from here.
 */
export function devCaller(): CallerResolver {
  return {
    isSafeInPublic: false,
    async resolve({ headers, url, remoteAddress }) {
      const host = headers.get("host") ?? url.host;
      if (!isLoopbackHost(host) || (remoteAddress !== undefined && !isLoopbackAddress(remoteAddress))) {
        throw new ThroughlineError(
          "unauthorized",
          "Dev sign-in answers this machine only. Ask as localhost, or set up JWT sign-in.",
        );
      }
      const account = accountIdSchema.safeParse(headers.get(DEV_ACCOUNT_HEADER) ?? DEV_ACCOUNT);
      if (!account.success) throw invalidInput(account.error, DEV_ACCOUNT_HEADER);
      const subject = subjectSchema.optional().safeParse(headers.get(DEV_SUBJECT_HEADER) ?? undefined);
      if (!subject.success) throw invalidInput(subject.error, DEV_SUBJECT_HEADER);
      return {
        billingAccountId: account.data,
        ...(subject.data !== undefined && { subject: subject.data }),
        virtualKeyId: DEV_VIRTUAL_KEY_ID,
      };
    },
  };
}
