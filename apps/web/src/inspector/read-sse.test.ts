import { describe, expect, it } from "vitest";
import { readSse, type SseMessage } from "./read-sse";

async function read(...chunks: readonly (string | Uint8Array)[]): Promise<readonly SseMessage[]> {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) {
        controller.enqueue(typeof chunk === "string" ? encoder.encode(chunk) : chunk);
      }
      controller.close();
    },
  });
  const messages: SseMessage[] = [];
  for await (const batch of readSse(body)) messages.push(...batch);
  return messages;
}

describe("an event stream", () => {
  it("is read with id, type and data", async () => {
    expect(await read('event: run_start\nid: e.1.0.log\ndata: {"a":1}\n\n')).toEqual([
      { id: "e.1.0.log", event: "run_start", data: '{"a":1}' },
    ]);
  });

  it("may be cut anywhere, within a character too", async () => {
    const bytes = new TextEncoder().encode("id: 1\ndata: née\n\ndata: b\n\n");
    const single = [...bytes].map((byte) => Uint8Array.of(byte));
    expect((await read(...single)).map(({ data }) => data)).toEqual(["née", "b"]);
  });

  it("passes over heartbeats, and joins data of several lines", async () => {
    expect(await read(": still here\n\ndata: a\r\ndata: b\r\n\r\n")).toEqual([
      { id: undefined, event: "message", data: "a\nb" },
    ]);
  });

  it("drops a message that its end never closed", async () => {
    expect(await read("data: a\n\ndata: half")).toHaveLength(1);
  });
});
