import { once } from "node:events";
import { createServer, get, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createSimulatedClock } from "@throughline/ai-core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createSseWriter, type SseWriter, type SseWriterOptions } from "./sse.js";
import type { SseStream } from "./sse-stream.js";

const NO_SIGNAL = new AbortController().signal;
const frame = (text: string) => [Buffer.from(`data: ${text}\n\n`)];
const big = (bytes: number) => [Buffer.alloc(bytes, "x")];

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A reader on a real socket, and the stream that writes to it. */
async function connect(options: SseWriterOptions = {}): Promise<{
  writer: SseWriter;
  stream: SseStream;
  reader: IncomingMessage;
}> {
  const writer = createSseWriter(options);
  const opened = deferred<SseStream>();
  const server = createServer((incoming, outgoing) => {
    const headers = new Headers({ "x-request-id": "r-1" });
    const { stream } = writer.open({ env: { incoming, outgoing }, headers, request: { signal: NO_SIGNAL } });
    opened.resolve(stream);
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const request = get({ port, host: "127.0.0.1" });
  const [reader]: IncomingMessage[] = await once(request, "response");
  if (!reader) throw new Error("no response");
  return { writer, stream: await opened.promise, reader };
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

async function text(reader: AsyncIterable<Buffer | Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of reader) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("the SSE writer on Node's own response", () => {
  it("sends headers at once, keeps those set before, and forbids caching and rewriting", async () => {
    const { reader, stream } = await connect();
    expect(reader.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "private, no-cache, no-transform",
      "x-accel-buffering": "no",
      "x-request-id": "r-1",
    });
    stream.end();
  });

  it("delivers what was written before the end", async () => {
    const { reader, stream } = await connect();
    stream.write([...frame("one"), ...frame("two")]);
    stream.end();
    expect(await text(reader)).toBe("data: one\n\ndata: two\n\n");
    expect(stream.write(frame("three"))).toBe(false);
  });

  it("sends one heartbeat comment to every open stream each interval, and none when nobody listens", async () => {
    const clock = createSimulatedClock();
    const { reader, stream, writer } = await connect({ clock, heartbeatMs: 5_000 });
    clock.advance(4_999);
    stream.write(frame("one"));
    clock.advance(1);
    stream.end();
    expect(await text(reader)).toBe("data: one\n\n: hb\n\n");
    expect(writer.size).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  it("drops a reader past its high-water mark and says so once", async () => {
    const onDropped = vi.fn();
    const { stream } = await connect({ highWaterBytes: 65_536, onDropped });
    let writes = 0;
    while (!stream.closed.aborted && writes < 10_000) {
      stream.write(big(16_384));
      writes += 1;
    }
    expect(stream.closed.aborted).toBe(true);
    expect(onDropped).toHaveBeenCalledTimes(1);
    expect(stream.write(frame("more"))).toBe(false);
  });

  it("does not blame a reader for one history that is larger than the mark", async () => {
    const onDropped = vi.fn();
    const { stream, reader } = await connect({ highWaterBytes: 65_536, onDropped });
    stream.write(big(20 * 1_048_576));
    stream.write(frame("live"));
    stream.end();
    expect((await text(reader)).length).toBe(20 * 1_048_576 + "data: live\n\n".length);
    expect(onDropped).not.toHaveBeenCalled();
  });

  it("asks for a pause and resolves drained when the reader has caught up", async () => {
    const { stream, reader } = await connect({ highWaterBytes: 1_048_576 });
    let wrote = 0;
    while (stream.write(big(16_384))) wrote += 1;
    const drained = stream.drained();
    reader.resume();
    await drained;
    expect(wrote).toBeGreaterThan(0);
    expect(stream.closed.aborted).toBe(false);
    expect(stream.write(frame("more"))).toBe(true);
  });

  it("closes when the reader leaves, and wakes whoever waits for it", async () => {
    const { stream, reader, writer } = await connect({ highWaterBytes: 64 * 1_048_576 });
    // More than the kernel takes off our hands for a reader that does not read.
    stream.write(big(48 * 1_048_576));
    const drained = stream.drained();
    reader.destroy();
    await drained;
    expect(stream.closed.aborted).toBe(true);
    expect(writer.size).toBe(0);
  });

  it("ends every stream on close, and what opens later at once", async () => {
    const { stream, reader, writer } = await connect();
    stream.write(frame("last"));
    writer.close();
    expect(await text(reader)).toBe("data: last\n\n");
    const late = writer.open({ env: undefined, headers: new Headers(), request: { signal: NO_SIGNAL } });
    expect(late.stream.closed.aborted).toBe(true);
    expect(await late.response.text()).toBe("");
  });
});

describe("the SSE writer as a fetch response", () => {
  function open(options: SseWriterOptions = {}, signal = NO_SIGNAL) {
    return createSseWriter(options).open({
      env: undefined,
      headers: new Headers({ vary: "origin" }),
      request: { signal },
    });
  }

  it("delivers the same bytes with the same headers", async () => {
    const { stream, response } = open();
    stream.write(frame("one"));
    stream.write(big(100_000));
    stream.end();
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(response.headers.get("vary")).toBe("origin");
    expect((await response.text()).length).toBe("data: one\n\n".length + 100_000);
  });

  it("drops a reader that does not read, by closing and not by failing", async () => {
    const onDropped = vi.fn();
    const { stream, response } = open({ highWaterBytes: 65_536, onDropped });
    for (let writes = 0; writes < 20; writes += 1) stream.write(big(16_384));
    expect(onDropped).toHaveBeenCalledTimes(1);
    expect((await response.text()).length).toBeLessThan(65_536);
  });

  it("gives each subscription that shares a stream the room of a stream of its own", async () => {
    const onDropped = vi.fn();
    const writer = createSseWriter({ highWaterBytes: 65_536, onDropped });
    const target = { env: undefined, headers: new Headers(), request: { signal: NO_SIGNAL } };
    const { stream, response } = writer.open({ ...target, shares: 8 });
    for (let part = 0; part < 8; part += 1) stream.write(big(60_000));
    stream.end();
    expect((await response.text()).length).toBe(480_000);
    expect(onDropped).not.toHaveBeenCalled();
  });

  it("closes when the body is cancelled and when the request is aborted", async () => {
    const cancelled = open();
    await cancelled.response.body?.cancel();
    expect(cancelled.stream.closed.aborted).toBe(true);
    const leaving = new AbortController();
    const aborted = open({}, leaving.signal);
    leaving.abort();
    expect(aborted.stream.closed.aborted).toBe(true);
  });

  it("wakes whoever waits for the reader once it has read", async () => {
    const { stream, response } = open({ highWaterBytes: 262_144 });
    while (stream.write(big(16_384)));
    const drained = stream.drained();
    const reading = response.body?.getReader();
    let isDrained = false;
    void drained.then(() => {
      isDrained = true;
    });
    while (!isDrained) await reading?.read();
    expect(stream.write(frame("more"))).toBe(true);
  });
});
