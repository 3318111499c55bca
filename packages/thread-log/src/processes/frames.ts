import type { Writable } from "node:stream";

// A frame is `length bytes`, the length big-endian in four bytes.

const LENGTH_BYTES = 4;

/** One system call for both parts, and no copy of the frame. `onTaken` is called when the other end's buffer has it. */
export function writeFrame(to: Writable, frame: Buffer, onTaken?: (error?: Error | null) => void): void {
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt32BE(frame.length);
  to.cork();
  to.write(length);
  to.write(frame, onTaken);
  to.uncork();
}

/** Puts frames together from chunks. A frame is valid until the callback returns. */
export function createFrameReader(onFrame: (frame: Buffer) => void): (chunk: Buffer) => void {
  let begun: Buffer | undefined;
  return (chunk) => {
    const bytes = begun ? Buffer.concat([begun, chunk]) : chunk;
    let at = 0;
    while (bytes.length - at >= LENGTH_BYTES) {
      const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
      if (end > bytes.length) break;
      onFrame(bytes.subarray(at + LENGTH_BYTES, end));
      at = end;
    }
    begun = at < bytes.length ? bytes.subarray(at) : undefined;
  };
}
