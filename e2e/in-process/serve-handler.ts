import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Handler } from "@throughline/langgraph-server";

/** A handler on a port of loopback, as any server of fetch handlers would mount it. */
export async function serveHandler(
  handler: Handler,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((asked, response) => void answer(handler, asked, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(handler: Handler, asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { method = "GET", url = "/", headers } = asked;
  const request = new Request(new URL(url, "http://127.0.0.1"), {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    ...(!/^(GET|HEAD)$/.test(method) && { body: await text(asked) }),
    signal: gone.signal,
  });
  const answered = await handler.fetch(request);
  response.statusCode = answered.status;
  answered.headers.forEach((value, name) => void response.setHeader(name, value));
  response.flushHeaders();
  const reader = answered.body?.getReader();
  response.once("close", () => void reader?.cancel());
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) response.write(read.value);
  response.end();
}
