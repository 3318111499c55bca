import { createHash } from "node:crypto";
import { TAR_END, tarHeader, tarPadding } from "./tar.js";

/** A file of an archive. It is held in memory while it is written, so it is never larger than a part or an attachment. */
export interface ArchiveFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/** Lines are cut into files of about this size: a tar file begins with its length, so what is not held can't be written. */
const PART_BYTES = 4 * 1_048_576;
/** Written at a time, so that a slow reader holds up little. */
const CHUNK_BYTES = 65_536;

/** JSON lines as files: `path.jsonl`, then `path.2.jsonl` and so on. None where there are no lines. */
export async function* jsonLines(path: string, values: AsyncIterable<unknown>): AsyncGenerator<ArchiveFile> {
  let part = 1;
  let lines: Buffer[] = [];
  let bytes = 0;
  const cut = (): ArchiveFile => {
    const name = part === 1 ? `${path}.jsonl` : `${path}.${part}.jsonl`;
    const file = { path: name, content: Buffer.concat(lines) };
    part += 1;
    lines = [];
    bytes = 0;
    return file;
  };
  for await (const value of values) {
    const line = Buffer.from(`${JSON.stringify(value)}\n`);
    lines.push(line);
    bytes += line.byteLength;
    if (bytes >= PART_BYTES) yield cut();
  }
  if (lines.length > 0) yield cut();
}

export interface ArchiveOptions {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** What the manifest says beside its checksums. Called after the last file. */
  readonly describe: () => object;
}

/**
 * A tar archive of files, as they come. `checksums.jsonl` says of every file its length and SHA-256; `manifest.json` is the last
 * file, so an archive that was cut off has none.
 */
export async function* toArchive(
  files: AsyncIterable<ArchiveFile>,
  { now, describe }: ArchiveOptions,
): AsyncGenerator<Uint8Array> {
  const checksumParts: object[] = [];
  let lines: object[] = [];
  const checksums = async function* (): AsyncGenerator<object> {
    yield* lines;
  };

  for await (const file of files) {
    lines.push(checksumOf(file));
    yield* write(file);
    if (lines.length >= LINES_PER_PART) yield* flush();
  }
  yield* flush();
  const manifest = Buffer.from(`${JSON.stringify({ ...describe(), checksums: checksumParts }, null, 2)}\n`);
  yield* write({ path: "manifest.json", content: manifest });
  yield TAR_END;

  async function* flush(): AsyncGenerator<Uint8Array> {
    const name = checksumParts.length === 0 ? "checksums" : `checksums.${checksumParts.length + 1}`;
    for await (const file of jsonLines(name, checksums())) {
      checksumParts.push(checksumOf(file));
      yield* write(file);
    }
    lines = [];
  }

  function* write({ path, content }: ArchiveFile): Generator<Uint8Array> {
    yield tarHeader(path, content.byteLength, now / 1_000);
    for (let start = 0; start < content.byteLength; start += CHUNK_BYTES) {
      yield content.subarray(start, start + CHUNK_BYTES);
    }
    yield tarPadding(content.byteLength);
  }
}

const LINES_PER_PART = 10_000;

function checksumOf({ path, content }: ArchiveFile): object {
  return {
    path,
    bytes: content.byteLength,
    sha256: createHash("sha256").update(content).digest("hex"),
  };
}
