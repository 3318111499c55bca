/**
 * Whether a page of ours asks. A cookie goes along with whatever another site makes a browser send, so nothing that is not
 * surely our own page's is done; a client that is no browser says neither header and has no business here.
 */
export function isSameOrigin(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin";
  const origin = headers.get("origin");
  const host = headers.get("x-forwarded-host") ?? headers.get("host");
  return origin !== null && URL.canParse(origin) && new URL(origin).host === host;
}

/** Account sign-in trusts this machine, and a name on the internet can be pointed at it: the `Host` must say so as well. */
export function isLoopbackHost(host: string | null): boolean {
  if (host === null || !URL.canParse(`http://${host}`)) return false;
  return ["localhost", "127.0.0.1", "[::1]"].includes(new URL(`http://${host}`).hostname);
}
