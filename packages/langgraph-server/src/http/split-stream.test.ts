import { describe, expect, it } from "vitest";
import { splitStream } from "./sse.js";
import type { SseStream } from "./sse-stream.js";

function recordedStream() {
  const closing = new AbortController();
  const written: Buffer[] = [];
  const stream: SseStream = {
    closed: closing.signal,
    write: (frames) => written.push(...frames) > 0,
    drained: async () => {},
    end: () => closing.abort(),
  };
  return { stream, written, leave: () => closing.abort() };
}

describe("a stream that subscriptions share", () => {
  it("R8: carries each frame's own bytes behind its subscription's name", () => {
    const { stream, written } = recordedStream();
    const [first, second] = splitStream(stream, ["0", "1"]);
    const frame = Buffer.from("id: a\ndata: {}\n\n");
    first?.write([frame]);
    second?.write([frame, frame]);
    expect(Buffer.concat(written).toString()).toBe(
      "event: 0\nid: a\ndata: {}\n\nevent: 1\nid: a\ndata: {}\n\nevent: 1\nid: a\ndata: {}\n\n",
    );
    expect(written.filter((buffer) => buffer === frame)).toHaveLength(3);
  });

  it("goes on for the others when one ends, and ends with the last", () => {
    const { stream } = recordedStream();
    const [first, second] = splitStream(stream, ["0", "1"]);
    first?.end();
    expect([first?.closed.aborted, second?.closed.aborted, stream.closed.aborted]).toEqual([
      true,
      false,
      false,
    ]);
    expect(first?.write([Buffer.from("late")])).toBe(false);
    second?.end();
    expect(stream.closed.aborted).toBe(true);
  });

  it("closes every part when the reader leaves", () => {
    const { stream, leave } = recordedStream();
    const parts = splitStream(stream, ["0", "1"]);
    leave();
    expect(parts.map(({ closed }) => closed.aborted)).toEqual([true, true]);
    expect(splitStream(stream, ["0"])[0]?.closed.aborted).toBe(true);
  });
});
