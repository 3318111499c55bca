import { SignJWT } from "jose";

/** Of one person of one account, for so long. */
export function tokenFor(secret: string, seconds: number): Promise<string> {
  const claims = { billing_account_id: "acme", sub: "ada" };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256" })
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1_000) + seconds)
    .sign(new TextEncoder().encode(secret));
}
