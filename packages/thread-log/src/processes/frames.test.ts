import { PassThrough } from "node:stream";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createFrameReader, writeFrame } from "./frames.js";

it("reads the frames that were written, however the bytes are cut", () => {
  const anyFrames = fc.array(fc.uint8Array({ maxLength: 50 }));
  fc.assert(
    fc.property(anyFrames, fc.infiniteStream(fc.integer({ min: 1, max: 20 })), (frames, sizes) => {
      const wire = new PassThrough();
      for (const frame of frames) writeFrame(wire, Buffer.from(frame));
      const bytes: Buffer = wire.read() ?? Buffer.alloc(0);
      const seen: number[][] = [];
      const read = createFrameReader((frame) => seen.push([...frame]));
      for (let at = 0; at < bytes.length; ) {
        const size = sizes.next().value ?? 1;
        read(bytes.subarray(at, at + size));
        at += size;
      }
      expect(seen).toEqual(frames.map((frame) => [...frame]));
    }),
  );
});
