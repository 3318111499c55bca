import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { NextRequest } from "next/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { forward } from "./forward";

let upstream: Server;
let seen: { request: IncomingMessage; body: string }[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  seen = [];
  answer = (_, response) => response.end("{}");
  upstream = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    seen.push({ request, body });
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const { port } = upstream.address() as AddressInfo;
  vi.stubEnv("THROUGHLINE_URL", `http://127.0.0.1:${port}`);
  vi.stubEnv("THROUGHLINE_CONSOLE_SIGN_IN", "account");
});
afterEach(() => {
  vi.unstubAllEnvs();
  upstream.closeAllConnections();
  upstream.close();
});

const SIGNED_IN = { cookie: "throughline_session=account:acme", "sec-fetch-site": "same-origin" };
const OURS = { ...SIGNED_IN, "x-throughline-signed-in-as": "acme" };

function request(path: string, init: ConstructorParameters<typeof NextRequest>[1] = {}): NextRequest {
  return new NextRequest(`http://console.example${path}`, { headers: OURS, ...init });
}

describe("a request of the console's own page", () => {
  it("reaches the service as whoever is signed in, whatever else it says of itself", async () => {
    const headers = {
      ...OURS,
      "x-throughline-account": "victim",
      authorization: "Bearer stolen",
      "x-a": "1",
    };
    await forward(request("/api/throughline/agents?limit=3", { headers }), "/agents");
    const [first] = seen;
    expect(first?.request.url).toBe("/agents?limit=3");
    expect(first?.request.headers).toMatchObject({ "x-throughline-account": "acme" });
    for (const name of ["authorization", "cookie", "x-a"])
      expect(first?.request.headers[name]).toBeUndefined();
  });

  it("is passed on with its body, and what the service says comes back: status, words and the headers a page needs", async () => {
    answer = (_, response) =>
      response
        .writeHead(409, { "content-type": "application/json", "retry-after": "2", "set-cookie": "a=b" })
        .end('{"code":"busy"}');
    const made = await forward(
      request("/api/throughline/crons", { method: "POST", body: '{"a":1}' }),
      "/crons",
    );
    expect(seen[0]?.body).toBe('{"a":1}');
    expect(made.status).toBe(409);
    expect(await made.json()).toEqual({ code: "busy" });
    expect(made.headers.get("retry-after")).toBe("2");
    expect(made.headers.get("set-cookie")).toBeNull();
  });

  it("gets a stream as it comes, and the service learns when the page leaves", async () => {
    let left: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      left = resolve;
    });
    answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: one\n\n");
      response.on("close", () => left());
    };
    const page = new AbortController();
    const made = await forward(request("/api/copilotkit/x", { signal: page.signal }), "/api/copilotkit/x");
    const reader = made.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("data: one\n\n");
    page.abort();
    await gone;
  });

  it("reaches the service when it names who is signed in, and is refused when it names somebody else", async () => {
    const named = (who: string) => request("/x", { headers: { ...OURS, "x-throughline-signed-in-as": who } });
    expect((await forward(named("acme"), "/x")).status).toBe(200);
    expect(seen[0]?.request.headers["x-throughline-signed-in-as"]).toBeUndefined();
    for (const other of ["other", "acme/ann", ""]) {
      const refused = await forward(named(other), "/x");
      expect(refused.status).toBe(401);
      expect(await refused.json()).toMatchObject({
        code: "signed_in_as_other",
        details: { signedInAs: "acme" },
      });
    }
    expect(seen).toHaveLength(1);
  });

  it("gets a part of a file, in the sandbox that the service puts files into", async () => {
    const told = {
      "accept-ranges": "bytes",
      "content-range": "bytes 2-3/9",
      "content-security-policy": "default-src 'none'; sandbox",
      "cross-origin-resource-policy": "same-origin",
      etag: '"a"',
    };
    answer = (_, response) => response.writeHead(206, told).end("cd");
    const headers = { ...OURS, range: "bytes=2-3", "if-range": '"a"', "sec-fetch-mode": "no-cors" };
    const made = await forward(request("/file", { headers }), "/file");
    expect(seen[0]?.request.headers).toMatchObject({ range: "bytes=2-3", "if-range": '"a"' });
    expect(made.status).toBe(206);
    expect(Object.fromEntries(made.headers)).toMatchObject(told);
    expect(await made.text()).toBe("cd");
  });

  it.each([
    ["a picture", "GET", "no-cors"],
    ["a file behind a link", "GET", "navigate"],
    ["what a page is asked about first", "HEAD", "navigate"],
  ])(
    "reaches the service without a name where the browser loads it by itself: %s",
    async (_, method, mode) => {
      const headers = { ...SIGNED_IN, "sec-fetch-mode": mode };
      expect((await forward(request("/x", { method, headers }), "/x")).status).toBe(200);
    },
  );

  it.each([
    ["what a script reads", "GET", { "sec-fetch-mode": "cors" }],
    ["what a script reads of its own origin", "GET", { "sec-fetch-mode": "same-origin" }],
    ["a form that is sent", "POST", { "sec-fetch-mode": "navigate" }],
    ["what changes something", "DELETE", { "sec-fetch-mode": "no-cors" }],
    ["what an older browser asks, which does not say how", "GET", {}],
  ])("is refused without a name before the service hears of it: %s", async (_, method, mode) => {
    const made = await forward(request("/x", { method, headers: { ...SIGNED_IN, ...mode } }), "/x");
    expect(made.status).toBe(400);
    expect(await made.json()).toMatchObject({ code: "invalid_input" });
    expect(seen).toEqual([]);
  });

  it("is told what to do when the service is away", async () => {
    upstream.close();
    await once(upstream, "close");
    const made = await forward(request("/x"), "/x");
    expect(made.status).toBe(502);
    expect(await made.json()).toMatchObject({
      code: "upstream_unavailable",
      message: expect.stringContaining("try again"),
    });
  });
});

describe("a request that is not surely our own page's", () => {
  it.each([
    ["another site's", { ...OURS, "sec-fetch-site": "cross-site" }, 403],
    ["a sibling's domain", { ...OURS, "sec-fetch-site": "same-site" }, 403],
    ["one that says nothing of where it comes from", { cookie: OURS.cookie }, 403],
    [
      "an older browser's from elsewhere",
      { cookie: OURS.cookie, origin: "http://evil.example", host: "console.example" },
      403,
    ],
    ["one without a session", { "sec-fetch-site": "same-origin" }, 401],
    ["one with a session of the other kind", { ...OURS, cookie: "throughline_session=token:a.b.c" }, 401],
  ])("is refused before the service hears of it: %s", async (_, headers, status) => {
    const made = await forward(request("/x", { headers }), "/x");
    expect(made.status).toBe(status);
    expect(seen).toEqual([]);
  });

  it("passes when an older browser names our own origin", async () => {
    const { "sec-fetch-site": _, ...unsaid } = OURS;
    const headers = { ...unsaid, origin: "http://console.example", host: "console.example" };
    expect((await forward(request("/x", { headers }), "/x")).status).toBe(200);
  });
});
