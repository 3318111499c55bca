/** One frame of an event stream as it was written. */
export interface RawFrame {
  readonly id: string | undefined;
  readonly data: string;
}

export interface CutStream {
  /** Those that came in whole. */
  readonly frames: readonly RawFrame[];
  /** The server ended it, before the cut. */
  readonly ended: boolean;
}

/** Takes as many bytes as it is told and closes the connection, wherever in a frame that is. */
export async function readAndCut(
  request: (signal: AbortSignal) => Promise<Response>,
  bytes: number,
): Promise<CutStream> {
  const cut = new AbortController();
  const response = await request(cut.signal);
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const read = await reader?.read();
    if (!read?.value) return { frames: parseFrames(Buffer.concat(chunks)), ended: true };
    chunks.push(read.value);
    size += read.value.byteLength;
    if (size < bytes) continue;
    cut.abort();
    return { frames: parseFrames(Buffer.concat(chunks).subarray(0, bytes)), ended: false };
  }
}

export function parseFrames(bytes: Buffer): RawFrame[] {
  const whole = bytes.subarray(0, bytes.lastIndexOf("\n\n") + 1).toString();
  return whole.split("\n\n").flatMap((frame) => {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    return data === undefined ? [] : [{ id: /^id: (.*)$/m.exec(frame)?.[1], data }];
  });
}
