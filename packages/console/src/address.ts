export function addressOf(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The address at which this machine reaches a URL: a server that listens on every address is reached on loopback. */
export function reachableUrl(url: string): string {
  const { hostname, port } = new URL(url);
  if (hostname === "0.0.0.0") return addressOf("127.0.0.1", Number(port));
  return hostname === "[::]" ? addressOf("::1", Number(port)) : url;
}
