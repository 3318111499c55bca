import { isIP, isIPv4 } from "node:net";

/** An address that only this machine reaches. `0.0.0.0` and `::` are every address it has, so they are not. */
export function isLoopbackAddress(address: string): boolean {
  const bare = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
  if (isIPv4(bare)) return bare.startsWith("127.");
  return bare === "::1";
}

/** A host as written in a URL, a `Host` header or a setting, port included or not. */
export function isLoopbackHost(host: string): boolean {
  if (isIP(host) !== 0) return isLoopbackAddress(host);
  const [, bracketed] = /^\[(.*)\](?::\d+)?$/.exec(host) ?? [];
  if (bracketed !== undefined) return isLoopbackAddress(bracketed);
  const name = host.replace(/:\d+$/, "").toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || isLoopbackAddress(name);
}
