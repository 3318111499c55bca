import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspectProcess } from "./inspect-process.js";

export interface ServerUser {
  leave(): void;
}

/** Says that this process uses the server; the last one to leave stops it. Call under the folder's lock. */
export function joinServer(folder: string): ServerUser {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}-${randomBytes(6).toString("hex")}`);
  writeFileSync(file, inspectProcess(process.pid)?.started ?? "", { mode: 0o644 });
  return { leave: () => rmSync(file, { force: true }) };
}

/** Forgets users that died without leaving. */
export function isServerInUse(folder: string): boolean {
  let inUse = false;
  for (const name of namesIn(folder)) {
    const file = join(folder, name);
    const process = inspectProcess(Number.parseInt(name, 10));
    if (process !== undefined && process.started === contentOf(file)) inUse = true;
    else rmSync(file, { force: true });
  }
  return inUse;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function contentOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
