import { readSse } from "./sse-reader.mjs";

/**
 * Reads a run to its end and checks what it said.
 *
 * @param {{ url: string, body?: unknown }} what
 * @param {string} [expected] the whole answer; unchecked when absent
 * @returns {Promise<{ firstTokenMs: number, text: string }>}
 */
export async function readRun(what, expected) {
  const startedAt = performance.now();
  let firstTokenMs;
  let text = "";
  let last = "";
  const reading = readSse(what, (frame) => {
    last = frame;
    if (!frame.includes("TEXT_MESSAGE_CONTENT")) return;
    firstTokenMs ??= performance.now() - startedAt;
    text += JSON.parse(/^data: ?(.*)$/m.exec(frame)[1]).delta;
  });
  await reading.ended;
  if (firstTokenMs === undefined || !last.includes("RUN_FINISHED"))
    throw new Error(`A run ended with ${last}`);
  if (expected !== undefined && text !== expected) throw new Error(`A run said "${text}".`);
  return { firstTokenMs, text };
}

/** What the typist types. */
export function typed({ tokens }) {
  return Array.from({ length: tokens }, (_, token) => ` word${token}`).join("");
}
