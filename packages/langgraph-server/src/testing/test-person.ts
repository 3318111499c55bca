import type { TestServer } from "./test-server.js";

/** A caller with these headers. */
export function testPerson(server: () => TestServer, headers: Readonly<Record<string, string>>) {
  return {
    headers,
    /** Gives the status and the parsed body. */
    async ask(method: string, path: string, body?: unknown) {
      const response = await fetch(`${server().url}${path}`, {
        method,
        headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    },
  };
}
