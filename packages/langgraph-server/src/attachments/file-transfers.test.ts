import { randomBytes } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { get, type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DEFAULT_LIMITS } from "../accounts/limits.js";
import { startTestServer, type TestServer, type TestServerOptions } from "../testing/test-server.js";
import { CHUNK_BYTES } from "./attachment-store.js";
import { DEFAULT_ATTACHMENT_LIMITS } from "./media-types.js";

const MIB = 1_048_576;

let server: TestServer;
afterEach(() => server.close());

const filesOf = (thread: string) => `${server.url}/agents/chat/threads/${thread}/attachments`;

function upload(
  thread: string,
  body: Uint8Array<ArrayBuffer> | ReadableStream,
  account = "acme",
  type = "video/mp4",
) {
  return fetch(filesOf(thread), {
    method: "POST",
    headers: { "content-type": type, "x-throughline-account": account },
    body,
    ...(body instanceof ReadableStream && { duplex: "half" }),
  });
}

async function uploadedId(thread: string, body: Uint8Array<ArrayBuffer>): Promise<string> {
  const response = await upload(thread, body);
  expect(response.status).toBe(201);
  return JSON.parse(await response.text()).id;
}

const read = (thread: string, id: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${filesOf(thread)}/${id}`, { method, headers: { "x-throughline-account": "acme", ...headers } });

/** Resolves when the number has not changed from one reading to the next. */
async function untilStable(count: () => number): Promise<number> {
  let last = -1;
  await vi.waitUntil(
    () => {
      const isStable = count() === last;
      last = count();
      return isStable;
    },
    { interval: 100, timeout: 10_000 },
  );
  return last;
}

describe("What is held of files on their way", () => {
  const sockets = new Set<Socket>();
  const onRequest = (message: unknown) => {
    // A parsed boundary: what Node documents of this channel.
    sockets.add((message as { readonly socket: Socket }).socket);
  };
  beforeEach(async () => {
    server = await startTestServer();
    sockets.clear();
    subscribe("http.server.request.start", onRequest);
  });
  afterEach(() => unsubscribe("http.server.request.start", onRequest));

  it("is two chunks of each upload while the store is slow, however much the sender has", async () => {
    const { store } = server.service.attachments;
    const begin = store.begin.bind(store);
    let proceed = () => {};
    const blocked = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    let writing = 0;
    vi.spyOn(store, "begin").mockImplementation(async (thread, caps) => {
      const begun = await begin(thread, caps);
      return {
        ...begun,
        async write(chunk) {
          writing += 1;
          await blocked;
          return begun.write(chunk);
        },
      };
    });
    const content = randomBytes(8 * MIB);
    const uploads = ["a", "b", "c", "d"].map((thread) => upload(thread, content));
    await vi.waitUntil(() => writing === 4, { timeout: 10_000 });
    const taken = await untilStable(() => [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0));
    expect(writing).toBe(4);
    expect(taken).toBeGreaterThanOrEqual(4 * CHUNK_BYTES);
    expect(taken).toBeLessThanOrEqual(4 * 2 * CHUNK_BYTES);
    proceed();
    expect((await Promise.all(uploads)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  });

  it("is a few chunks of a download while its reader is slow, and nothing once the reader has left", async () => {
    const id = await uploadedId("a", randomBytes(32 * MIB));
    const { store } = server.service.attachments;
    const open = store.open.bind(store);
    let pulled = 0;
    let hasEnded = false;
    vi.spyOn(store, "open").mockImplementation(async (thread, asked) => {
      const opened = await open(thread, asked);
      return (
        opened && {
          ...opened,
          async *read(range) {
            try {
              for await (const chunk of opened.read(range)) {
                pulled += chunk.byteLength;
                yield chunk;
              }
            } finally {
              hasEnded = true;
            }
          },
        }
      );
    });
    const answer = await new Promise<IncomingMessage>((resolve) =>
      get(`${filesOf("a")}/${id}`, { headers: { "x-throughline-account": "acme" } }, resolve),
    );
    answer.pause();
    await vi.waitUntil(() => pulled > 0);
    // The system's own buffers take some; what waits in this process for them is what counts.
    await untilStable(() => pulled);
    const waiting = [...sockets].reduce((sum, { writableLength }) => sum + writableLength, 0);
    expect(waiting).toBeLessThanOrEqual(4 * CHUNK_BYTES);
    expect(pulled).toBeLessThan(24 * MIB);
    answer.destroy();
    await vi.waitUntil(() => hasEnded);
  });
});

describe("Limits of files", () => {
  async function start(options: TestServerOptions): Promise<void> {
    server = await startTestServer(options);
  }

  async function outcomes(answers: readonly Promise<Response>[]) {
    return Promise.all(
      answers.map(async (answer) => {
        const response = await answer;
        return {
          status: response.status,
          headers: response.headers,
          body: JSON.parse(await response.text()),
        };
      }),
    );
  }

  it("hold for a minute's bytes when many come at once, before any of them is read", async () => {
    await start({
      limits: { ...DEFAULT_LIMITS, maxBodyBytes: 1_000, maxBodyBytesPerMinute: MIB },
      transferLimits: { maxTransfersPerAccount: 64, maxTransfersPerInstance: 64 },
    });
    const content = randomBytes(MIB / 4);
    const statuses: number[] = [];
    const uploads = Array.from({ length: 20 }, (_, index) => {
      const sent = request(filesOf(`t${index}`), {
        method: "POST",
        headers: {
          "content-type": "video/mp4",
          "x-throughline-account": "acme",
          "content-length": content.length,
        },
      });
      // A body that is refused may have its connection closed while it is sent.
      sent.on("error", () => {});
      sent.on("response", (answer) => {
        statuses.push(answer.statusCode ?? 0);
        answer.resume();
      });
      sent.write(content.subarray(0, 1_000));
      return sent;
    });
    // Four quarters are what a minute has; as it always did, the meter lets the one through that empties it.
    await vi.waitUntil(() => statuses.length >= 15, { timeout: 10_000 });
    expect(new Set(statuses)).toEqual(new Set([429]));
    for (const sent of uploads) sent.end(content.subarray(1_000));
    await vi.waitUntil(() => statuses.filter((status) => status === 201).length >= 4, { timeout: 10_000 });
    expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(5);
  });

  it("hold for a minute's bytes where a length is not told, before all of it is read", async () => {
    await start({ limits: { ...DEFAULT_LIMITS, maxBodyBytesPerMinute: MIB } });
    let sent = 0;
    const endless = new ReadableStream({
      async pull(controller) {
        sent += CHUNK_BYTES;
        controller.enqueue(new Uint8Array(CHUNK_BYTES));
        if (sent >= 40 * MIB) controller.close();
      },
    });
    const [refused] = await outcomes([upload("a", endless)]);
    expect(refused).toMatchObject({ status: 429, body: { details: { limit: "maxBodyBytesPerMinute" } } });
    expect(await server.service.attachments.store.heldBytes({ account: "acme", threadId: "a" })).toBe(0);
  });

  it("hold for what an account stores, over all its threads and when many come at once", async () => {
    const limits = { ...DEFAULT_ATTACHMENT_LIMITS, maxAttachmentBytesPerAccount: 1_000 };
    await start({ attachmentLimits: limits });
    const all = await outcomes(
      Array.from({ length: 8 }, (_, index) => upload(`t${index}`, randomBytes(300))),
    );
    expect(all.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const { status, body } of all.filter((one) => one.status !== 201)) {
      expect(status).toBe(413);
      expect(body).toMatchObject({
        code: "too_large",
        details: { field: "body", limit: "maxAttachmentBytesPerAccount", max: 1_000 },
      });
    }
    expect((await upload("mine", randomBytes(300), "other")).status).toBe(201);
  });

  it("let an account send and receive so many at once, and others go on", async () => {
    await start({ transferLimits: { maxTransfersPerAccount: 1, maxTransfersPerInstance: 64 } });
    const id = await uploadedId("a", randomBytes(100));
    const half = request(filesOf("b"), {
      method: "POST",
      headers: { "content-type": "video/mp4", "x-throughline-account": "acme", "content-length": 1_000_000 },
    });
    half.on("error", () => {});
    half.write(randomBytes(1_000));
    await vi.waitUntil(async () => {
      const refused = await read("a", id);
      if (refused.status === 200) await refused.arrayBuffer();
      if (refused.status !== 429) return false;
      expect(refused.headers.get("retry-after")).toBe("2");
      expect(refused.headers.get("cache-control")).toBeNull();
      expect(JSON.parse(await refused.text()).details).toMatchObject({
        limit: "maxTransfersPerAccount",
        max: 1,
      });
      return true;
    }, 10_000);
    expect((await upload("c", randomBytes(100), "other")).status).toBe(201);
    // What asks for no bytes needs no permit.
    expect((await read("a", id, {}, "HEAD")).status).toBe(200);
    half.destroy();
    await vi.waitFor(async () => {
      const answer = await read("a", id);
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }, 10_000);
  });

  it("tell a file that is not what it was sent as", async () => {
    await start({});
    const pdf = Buffer.from("%PDF-1.7 and so on");
    const [refused, taken] = await outcomes([
      upload("a", pdf, "acme", "image/png"),
      upload("a", pdf, "acme", "application/pdf"),
    ]);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: "invalid_input", details: { field: "body" } },
    });
    expect(taken?.status).toBe(201);
  });
});

describe("A file that is read back", () => {
  const content = randomBytes(CHUNK_BYTES + 1_000);
  let id = "";
  beforeEach(async () => {
    server = await startTestServer();
    id = await uploadedId("a", content);
  });
  const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer());

  it("comes in the part that is asked for", async () => {
    const part = await read("a", id, { range: `bytes=${CHUNK_BYTES - 10}-${CHUNK_BYTES + 9}` });
    expect(part.status).toBe(206);
    expect(part.headers.get("content-range")).toBe(
      `bytes ${CHUNK_BYTES - 10}-${CHUNK_BYTES + 9}/${content.length}`,
    );
    expect(part.headers.get("content-length")).toBe("20");
    expect((await bytes(part)).equals(content.subarray(CHUNK_BYTES - 10, CHUNK_BYTES + 10))).toBe(true);
    const whole = await read("a", id);
    expect(whole.headers.get("accept-ranges")).toBe("bytes");
    expect((await bytes(whole)).equals(content)).toBe(true);
  });

  it("comes whole where the part is of another version of it", async () => {
    const whole = await read("a", id, { range: "bytes=0-9", "if-range": '"another"' });
    expect(whole.status).toBe(200);
    expect((await bytes(whole)).length).toBe(content.length);
    const part = await read("a", id, { range: "bytes=0-9", "if-range": `"${id}"` });
    expect(part.status).toBe(206);
    expect((await bytes(part)).length).toBe(10);
  });

  it("is refused where it has no such part, with the length it has", async () => {
    const refused = await read("a", id, { range: "bytes=999999999-" });
    expect(refused.status).toBe(416);
    expect(refused.headers.get("content-range")).toBe(`bytes */${content.length}`);
    expect(JSON.parse(await refused.text())).toMatchObject({
      code: "invalid_input",
      details: { field: "range" },
    });
  });

  it("is not sent again to whoever has it", async () => {
    const first = await read("a", id);
    await first.arrayBuffer();
    for (const tag of [first.headers.get("etag") ?? "", `"other", W/"${id}"`, "*"]) {
      const again = await read("a", id, { "if-none-match": tag });
      expect(again.status).toBe(304);
      expect((await bytes(again)).length).toBe(0);
    }
    const changed = await read("a", id, { "if-none-match": '"other"' });
    expect(changed.status).toBe(200);
    await changed.arrayBuffer();
  });

  it("is told of by HEAD without its bytes", async () => {
    const head = await read("a", id, {}, "HEAD");
    expect(head.status).toBe(200);
    expect(head.headers.get("content-length")).toBe(String(content.length));
    expect((await bytes(head)).length).toBe(0);
  });
});
