import { type KeyResolver, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";
import { unknownKey } from "./unknown-key.js";

const entrySchema = z.union([
  z
    .string()
    .min(1)
    .transform((token) => ({ token, account: undefined })),
  z.object({ token: z.string().min(1), account: z.string().min(1) }),
]);
const keysSchema = z.record(z.string().min(1), entrySchema);

/**
 * Keys from a setting: a JSON object of key id to token, or to `{ token, account }` where a key is for one account only. A key
 * that is not in it is refused: falling back to another would bill another account.
 */
export function environmentKeys(setting: string | undefined): KeyResolver {
  const keys = new Map(Object.entries(parseKeys(setting ?? "{}")));
  return {
    async resolveKey(virtualKeyId, account) {
      const key = keys.get(virtualKeyId);
      const isOthers = key?.account !== undefined && account !== undefined && key.account !== account;
      if (!key || isOthers) throw unknownKey(virtualKeyId);
      return key.token;
    },
  };
}

function parseKeys(setting: string): z.infer<typeof keysSchema> {
  try {
    return keysSchema.parse(JSON.parse(setting));
  } catch {
    // Neither the setting nor a cause is passed on: both may hold a token.
    throw new ThroughlineError(
      "invalid_input",
      'LITELLM_VIRTUAL_KEYS must be a JSON object of key id to token: {"key-1":"sk-…"}.',
    );
  }
}
