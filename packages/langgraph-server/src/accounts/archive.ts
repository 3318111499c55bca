import { createHash } from "node:crypto";

/** A file of an archive. A tar file begins with its length, so that is known before its content is read. */
export interface ArchiveFile {
  readonly path: string;
  readonly bytes: number;
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** A file that is held in memory. */
export function wholeFile(path: string, content: Uint8Array): ArchiveFile {
  return { path, bytes: content.byteLength, content: pieces(content) };
}

function* pieces(content: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < content.byteLength; start += CHUNK_BYTES) {
    yield content.subarray(start, start + CHUNK_BYTES);
  }
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
    const file = wholeFile(name, Buffer.concat(lines));
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
  /** The manifest's content other than checksums. Called after the last file. */
  readonly describe: () => object;
}

/**
 * A tar archive of files, as they come. `checksums.jsonl` has every file's length and SHA-256; `manifest.json` is the last
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
    lines.push(yield* write(file));
    if (lines.length >= LINES_PER_PART) yield* flush();
  }
  yield* flush();
  const manifest = Buffer.from(`${JSON.stringify({ ...describe(), checksums: checksumParts }, null, 2)}\n`);
  yield* write(wholeFile("manifest.json", manifest));
  yield TAR_END;

  async function* flush(): AsyncGenerator<Uint8Array> {
    const name = checksumParts.length === 0 ? "checksums" : `checksums.${checksumParts.length + 1}`;
    for await (const file of jsonLines(name, checksums())) {
      checksumParts.push(yield* write(file));
    }
    lines = [];
  }

  /** Gives the file's checksum. */
  async function* write({ path, bytes, content }: ArchiveFile): AsyncGenerator<Uint8Array, object> {
    const hash = createHash("sha256");
    yield tarHeader(path, bytes, now / 1_000);
    for await (const chunk of content) {
      hash.update(chunk);
      yield chunk;
    }
    yield tarPadding(bytes);
    return { path, bytes, sha256: hash.digest("hex") };
  }
}

const LINES_PER_PART = 10_000;
const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** The blocks after the last file of an archive. */
const TAR_END: Uint8Array = new Uint8Array(2 * BLOCK);

/** The header of a file in a ustar archive. `mtime` is in seconds since the Unix epoch. */
function tarHeader(path: string, bytes: number, mtime: number): Uint8Array {
  const header = Buffer.alloc(BLOCK);
  const [prefix, name] = splitPath(path);
  header.write(name, 0);
  header.write(octal(0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(bytes, 12), 124);
  header.write(octal(Math.floor(mtime), 12), 136);
  // The checksum is computed with blanks in its own field.
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\u000000", 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148);
  return header;
}

/** The padding of a file's last block. */
function tarPadding(bytes: number): Uint8Array {
  return new Uint8Array((BLOCK - (bytes % BLOCK)) % BLOCK);
}

/** A path of more than 100 bytes is cut at a slash. */
function splitPath(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= NAME_BYTES) return ["", path];
  for (let cut = path.indexOf("/"); cut !== -1; cut = path.indexOf("/", cut + 1)) {
    const [prefix, name] = [path.slice(0, cut), path.slice(cut + 1)];
    if (Buffer.byteLength(name) <= NAME_BYTES && Buffer.byteLength(prefix) <= PREFIX_BYTES) {
      return [prefix, name];
    }
  }
  throw new Error("The path is too long for an archive.");
}

/** Digits and a NUL. */
function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, "0")}\u0000`;
}
