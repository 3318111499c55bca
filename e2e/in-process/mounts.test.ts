import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type HttpBindings, serve } from "@hono/node-server";
import {
  createHandler,
  createService,
  devCaller,
  type Handler,
  type Service,
  toNodeHandler,
} from "@throughline/langgraph-server";
import compression from "compression";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  createScriptedProvider,
  type ScriptedProvider,
} from "../../packages/langgraph-server/src/testing/scripted-provider.js";
import { isType, readEvents, sseEvents } from "../../packages/langgraph-server/src/testing/sse-events.js";

interface Mounted {
  readonly url: string;
  close(): Promise<unknown>;
}

const urlOf = (server: Pick<Server, "address">) =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function listening(server: Server): Promise<Mounted> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () =>
      resolve({ url: urlOf(server), close: () => new Promise((done) => server.close(done)) }),
    );
  });
}

/** As the documentation shows each. */
const MOUNTS: Readonly<Record<string, (handler: Handler) => Promise<Mounted>>> = {
  Hono(handler) {
    const app = new Hono<{ Bindings: HttpBindings }>();
    app.get("/own", (c) => c.text("own"));
    app.all("*", (c) => handler.fetch(c.req.raw, c.env));
    return new Promise((resolve) => {
      const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, () =>
        resolve({ url: urlOf(server), close: () => new Promise((done) => server.close(done)) }),
      );
    });
  },
  async Express(handler) {
    const app = express();
    app.get("/own", (_, response) => void response.send("own"));
    app.use(toNodeHandler(handler));
    return listening(createServer(app));
  },
  async "Express behind compression and a body parser, below a path"(handler) {
    const app = express();
    app.use(compression({ threshold: 0 }), express.json());
    app.get("/own", (_, response) => void response.send("own"));
    app.use(["/api", "/agents"], toNodeHandler(handler));
    return listening(createServer(app));
  },
  async Fastify(handler) {
    const app = fastify();
    app.get("/own", async () => "own");
    const answer = toNodeHandler(handler);
    app.register(async (routes) => {
      routes.removeAllContentTypeParsers();
      routes.addContentTypeParser("*", (_request, _payload, done) => done(null));
      routes.all("/*", (request, reply) => {
        reply.hijack();
        return answer(request.raw, reply.raw);
      });
    });
    return { url: await app.listen({ host: "127.0.0.1", port: 0 }), close: () => app.close() };
  },
  async "a server of fetch handlers, as Next.js' routes are"(handler) {
    const { serveHandler } = await import("./serve-handler.js");
    const { url, stop } = await serveHandler(handler);
    return { url, close: stop };
  },
};

let provider: ScriptedProvider;
let service: Service;
let handler: Handler;
beforeAll(async () => {
  provider = createScriptedProvider();
  service = await createService({ store: { kind: "memory" }, graphs: provider });
  handler = createHandler({ service, caller: devCaller() });
});
afterAll(async () => {
  await service.close({ drainMs: 0 });
  handler.close();
});

describe.each(Object.entries(MOUNTS))("Mounted in %s", (name, mount) => {
  const thread = encodeURIComponent(name.slice(0, 10));
  let mounted: Mounted;
  beforeAll(async () => {
    mounted = await mount(handler);
  });
  afterAll(() => mounted.close());

  const run = (signal?: AbortSignal) =>
    fetch(`${mounted.url}/api/copilotkit/agent/scripted/run`, {
      method: "POST",
      headers: { "content-type": "application/json", "accept-encoding": "gzip" },
      body: JSON.stringify({
        threadId: thread,
        messages: [{ id: crypto.randomUUID(), role: "user", content: "grüße" }],
      }),
      ...(signal && { signal }),
    });

  it("takes a body, and streams each event as it comes", async () => {
    const answer = await run();
    const going = await provider.nextRun();
    expect(JSON.stringify(going.request.start)).toContain("grüße");
    going.say("one");
    const events = sseEvents(answer);
    const types: unknown[] = [];
    // The run waits for what it said to arrive.
    for await (const { data } of events) {
      types.push(data.type);
      if (data.type === "TEXT_MESSAGE_CONTENT") going.end();
    }
    expect(types.at(0)).toBe("RUN_STARTED");
    expect(types.at(-1)).toBe("RUN_FINISHED");
  });

  it("forgets a client that is gone, and its run goes on", async () => {
    const leaving = new AbortController();
    const answer = await run(leaving.signal);
    const going = await provider.nextRun();
    going.say("one");
    await readEvents(answer, isType("TEXT_MESSAGE_CONTENT"));
    leaving.abort();
    await vi.waitFor(() => expect(service.hub.subscribers()).toBe(0));
    expect(going.request.signal.aborted).toBe(false);
    going.end();
  });

  it("takes files and gives them back as they were", async () => {
    const text = `grüße ${crypto.randomUUID()} `.repeat(2_000);
    const path = `${mounted.url}/agents/scripted/threads/${thread}/attachments`;
    const headers = { "content-type": "text/plain" };
    const stored = await fetch(path, { method: "POST", headers, body: text });
    const { id } = (await stored.json()) as { readonly id: string };
    const read = await fetch(`${path}/${id}`);
    expect(await read.text()).toBe(text);
  });

  it("answers errors with their status and leaves other routes alone", async () => {
    const unknown = await fetch(`${mounted.url}/agents/nobody/threads/t`);
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { code: "not_found" }]);
    const own = await fetch(`${mounted.url}/own`);
    if (own.ok) expect(await own.text()).toBe("own");
  });
});
