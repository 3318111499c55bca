import { type KeyResolver, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";

/**
 * The key id that `createModel` resolves when a run names no key: a person on their own machine. No run can name it, because an
 * empty `virtualKeyId` is refused as input, so a caller never reaches the service key by choosing an id.
 */
export const UNNAMED_KEY_ID = "";

const token = z.string().min(1);
const virtualKeysSchema = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: "custom", message: "is not JSON" });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.union([token, z.object({ token, account: z.string().min(1) })])));

/**
 * Keys from the environment: `LITELLM_VIRTUAL_KEYS` (`{"id":"token"}`, or `{"id":{"token","account"}}` for one account
 * only) for runs that name a key, `LITELLM_API_KEY` for runs that name none. A named key that is not in the map is refused:
 * falling back would bill another account.
 */
export function envKeyResolver(env: Readonly<Record<string, string | undefined>> = process.env): KeyResolver {
  return {
    async resolveKey(virtualKeyId, billingAccountId) {
      if (virtualKeyId === UNNAMED_KEY_ID) {
        if (env.LITELLM_API_KEY) return env.LITELLM_API_KEY;
        throw new ThroughlineError(
          "unauthorized",
          "This run names no virtualKeyId and LITELLM_API_KEY is not set: set it, or send a virtualKeyId.",
        );
      }
      const key = virtualKeysOf(env).get(virtualKeyId);
      if (typeof key === "string") return key;
      if (key && (billingAccountId === undefined || key.account === billingAccountId)) return key.token;
      throw new ThroughlineError(
        "unauthorized",
        `No key for virtualKeyId "${virtualKeyId}": add it to LITELLM_VIRTUAL_KEYS.`,
        { details: { virtualKeyId } },
      );
    },
  };
}

type VirtualKey = z.infer<typeof virtualKeysSchema>[string];

function virtualKeysOf(env: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, VirtualKey> {
  if (!env.LITELLM_VIRTUAL_KEYS) return new Map();
  const parsed = virtualKeysSchema.safeParse(env.LITELLM_VIRTUAL_KEYS);
  if (parsed.success) return new Map(Object.entries(parsed.data));
  // Neither the text nor zod's cause is passed on: both may hold a token.
  throw new ThroughlineError(
    "unauthorized",
    'LITELLM_VIRTUAL_KEYS must be a JSON object of id to token, as {"key-1":"sk-…"}.',
  );
}
