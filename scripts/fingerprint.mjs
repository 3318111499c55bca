// @ts-check
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Every file below `path` (or `path` itself), sorted, relative to `base`. What does not exist has no files.
 *
 * @param {string} base
 * @param {string} path
 * @returns {string[]}
 */
export function filesBelow(base, path) {
  const absolute = join(base, path);
  if (!existsSync(absolute)) return [];
  if (!statSync(absolute).isDirectory()) return [path];
  return readdirSync(absolute)
    .sort()
    .flatMap((name) => (name === "node_modules" ? [] : filesBelow(base, `${path}/${name}`)));
}

/**
 * One hash over names and contents; lengths are hashed too, so that bytes cannot move between files unseen.
 *
 * @param {string} base
 * @param {readonly string[]} files
 * @param {readonly string[]} [extra]
 */
export function fingerprint(base, files, extra = []) {
  const hash = createHash("sha256");
  for (const text of extra) hash.update(`${text.length}:${text}`);
  for (const file of files) {
    const content = readFileSync(join(base, file));
    hash.update(`${file.length}:${file}:${content.length}:`).update(content);
  }
  return hash.digest("hex");
}

/**
 * @param {string} path
 * @returns {string | undefined}
 */
export function readStamp(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

/**
 * @param {string} path
 * @param {string} stamp
 */
export function writeStamp(path, stamp) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, stamp);
}

/** @param {string} path */
export function dropStamp(path) {
  rmSync(path, { force: true });
}
