import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.js";
import { listen } from "./listen.js";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Bytes that no client of ours would send, and all that comes back. */
async function sendRaw(bytes: string): Promise<{ status: number; body: string }> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString();
  });
  socket.write(bytes);
  await once(socket, "close");
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body };
}

describe("what is no HTTP", () => {
  it.each([
    ["a line that is no request", "hello\r\n\r\n"],
    ["a header with a line break in its name", "GET /health HTTP/1.1\r\nhost: x\r\nx-\u0001: 1\r\n\r\n"],
    ["two lengths", "POST /runs HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"],
  ])("%s is refused with a code", async (_, bytes) => {
    const { status, body } = await sendRaw(bytes);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ code: "invalid_input", requestId: expect.any(String) });
  });

  it("headers beyond all measure are refused with a code", async () => {
    const { status, body } = await sendRaw(
      `GET /health HTTP/1.1\r\nhost: x\r\nx-long: ${"a".repeat(40_000)}\r\n\r\n`,
    );
    expect(status).toBe(413);
    expect(JSON.parse(body)).toMatchObject({ code: "too_large", requestId: expect.any(String) });
  });
});

it("A server that closes lets go of a client that comes back over the connection it has", async () => {
  const arrived = withResolvers();
  const held = withResolvers();
  const listening = await listen(
    {
      async fetch({ url }) {
        if (!url.endsWith("/slow")) return new Response("ok");
        arrived.resolve();
        await held.promise;
        return new Response("ok");
      },
    },
    { host: "127.0.0.1", port: 0 },
  );
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = async (path: string) => {
    const [answer]: IncomingMessage[] = await once(get(`${listening.url}${path}`, { agent }), "response");
    answer?.resume();
    return answer?.headers.connection;
  };
  const slow = ask("/slow");
  await arrived.promise;
  const next = ask("/");
  listening.stopAccepting();
  held.resolve();
  expect([await slow, await next]).toEqual(["keep-alive", "close"]);
  await listening.finish();
  agent.destroy();
});
