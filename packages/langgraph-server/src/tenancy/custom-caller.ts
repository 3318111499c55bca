import { accountIdSchema, subjectSchema, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import { roleSchema } from "../policy/role.js";
import type { CallerResolver, Credentials, Ingress } from "./caller-resolver.js";

const credentialsSchema = z.object({
  billingAccountId: accountIdSchema,
  subject: subjectSchema.optional(),
  virtualKeyId: z.string().min(1).max(256),
  expiresAt: z.number().optional(),
  isTrustedService: z.boolean().optional(),
  role: z.unknown().optional(),
});

/** Your own sign-in. What it returns is checked; returning `undefined` means that the caller is not signed in. */
export function customCaller(
  resolve: (ingress: Ingress) => Promise<Credentials | undefined> | Credentials | undefined,
): CallerResolver {
  return {
    isSafeInPublic: true,
    async resolve(ingress) {
      const found = await resolve(ingress);
      if (found === undefined) throw new ThroughlineError("unauthorized", "Not signed in.");
      const read = credentialsSchema.safeParse(found);
      // A bad answer is a mistake in that function, so the caller is not told.
      if (!read.success) throw new TypeError(`The caller resolver gave ${z.prettifyError(read.error)}`);
      const { billingAccountId, subject, virtualKeyId, expiresAt, isTrustedService } = read.data;
      // Whatever else is passed on from an identity provider must not become the default role.
      const role = roleSchema.optional().safeParse(read.data.role);
      if (!role.success) throw new ThroughlineError("unauthorized", "The caller's role is unknown.");
      return {
        billingAccountId,
        virtualKeyId,
        ...(subject !== undefined && { subject }),
        ...(expiresAt !== undefined && { expiresAt }),
        ...(role.data !== undefined && { role: role.data }),
        ...(isTrustedService !== undefined && { isTrustedService }),
      };
    },
  };
}
