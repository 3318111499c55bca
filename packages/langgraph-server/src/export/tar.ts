const BLOCK = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;

/** What follows the last file of an archive. */
export const TAR_END: Uint8Array = new Uint8Array(2 * BLOCK);

/** The header of a file in a ustar archive. `mtime` is in seconds since the Unix epoch. */
export function tarHeader(path: string, bytes: number, mtime: number): Uint8Array {
  const header = Buffer.alloc(BLOCK);
  const [prefix, name] = splitPath(path);
  header.write(name, 0);
  header.write(octal(0o600, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(bytes, 12), 124);
  header.write(octal(Math.floor(mtime), 12), 136);
  // The checksum is made with blanks in its own place.
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\u000000", 257);
  header.write(prefix, 345);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148);
  return header;
}

/** What fills a file's last block. */
export function tarPadding(bytes: number): Uint8Array {
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
