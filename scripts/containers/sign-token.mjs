// @ts-check
import { createHmac } from "node:crypto";

const DAY_S = 86_400;

/**
 * A token for one account, signed with the secret that the service checks tokens with. For development: elsewhere an identity
 * provider signs them.
 *
 * @param {{ secret: string; account: string; now: number }} claims `now` in milliseconds; the token is valid for a day
 */
export function signToken({ secret, account, now }) {
  const issued = Math.floor(now / 1_000);
  const payload = { billing_account_id: account, iat: issued, exp: issued + DAY_S };
  const signed = [{ alg: "HS256", typ: "JWT" }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
