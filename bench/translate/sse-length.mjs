/** Encodes one event as the SSE frame a server would write, and says how many bytes that is. */
export function encodedLength(event, id) {
  const frame = `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`;
  return Buffer.byteLength(frame);
}
