import { createHash } from "node:crypto";

/** As LiteLLM names a key in its logs. */
export function hashKey(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
