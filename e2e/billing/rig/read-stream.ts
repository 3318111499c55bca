type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Reads the beginning of a stream. */
export async function readSome(response: Response, chunks: number): Promise<Reader> {
  const reader = response.body?.getReader();
  if (!reader) throw new Error("no body");
  for (let read = 0; read < chunks; read++) await reader.read();
  return reader;
}

/** Reads a stream until it ends or breaks. */
export async function readOut(reader: Reader): Promise<void> {
  for (let isOpen = true; isOpen; ) {
    isOpen = await reader.read().then(
      ({ done }) => !done,
      () => false,
    );
  }
}
