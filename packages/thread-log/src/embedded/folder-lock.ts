import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ThroughlineError } from "@throughline/ai-core";
import { inspectProcess } from "./inspect-process.js";

export interface FolderLock {
  release(): void;
}

export interface LockWait {
  readonly timeoutMs?: number;
  /** Called once, with the pid of who holds it. */
  readonly onWait?: (holder: number) => void;
}

const POLL_MS = 25;
const TIMEOUT_MS = 180_000;

/** A mutex between processes: the lock of a process that died is taken over. */
export async function lockFolder(path: string, wait: LockWait = {}): Promise<FolderLock> {
  const deadline = performance.now() + (wait.timeoutMs ?? TIMEOUT_MS);
  let announced = false;
  for (;;) {
    const lock = tryLockFolder(path);
    if (lock) return lock;
    const holder = readClaim(path)?.pid;
    if (holder !== undefined && !announced) {
      wait.onWait?.(holder);
      announced = true;
    }
    if (performance.now() > deadline) {
      throw new ThroughlineError(
        "internal",
        `Process ${holder ?? "unknown"} holds ${path}. End it, or remove that file if it is none of ours.`,
      );
    }
    await delay(POLL_MS);
  }
}

/** Synchronous, because a process on its way out can't wait. */
export function tryLockFolder(path: string): FolderLock | undefined {
  const claim = `${path}.${process.pid}-${randomBytes(6).toString("hex")}`;
  const started = inspectProcess(process.pid)?.started ?? "";
  writeFileSync(claim, `${process.pid} ${started}`, { flag: "wx", mode: 0o644 });
  try {
    for (let attempt = 0; attempt < 2; attempt++) {
      // A link appears with its content or not at all: nobody ever reads a half-written claim.
      if (linked(claim, path)) return { release: () => rmSync(path, { force: true }) };
      if (!removeStale(path, claim)) return undefined;
    }
    return undefined;
  } finally {
    rmSync(claim, { force: true });
  }
}

function linked(claim: string, path: string): boolean {
  try {
    linkSync(claim, path);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** Two processes may find the same dead holder: each moves aside what is there and puts back what it did not mean. */
function removeStale(path: string, claim: string): boolean {
  const holder = readClaim(path);
  if (holder === undefined) return true;
  if (isAlive(holder)) return false;
  const aside = `${claim}.stale`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (isCode(error, "ENOENT")) return true;
    throw error;
  }
  const moved = readClaim(aside);
  if (moved && isAlive(moved)) linked(aside, path);
  rmSync(aside, { force: true });
  return true;
}

interface Claim {
  readonly pid: number;
  readonly started: string;
}

function readClaim(path: string): Claim | undefined {
  try {
    const [pid, ...started] = readFileSync(path, "utf8").split(" ");
    return { pid: Number(pid), started: started.join(" ") };
  } catch {
    return undefined;
  }
}

function isAlive({ pid, started }: Claim): boolean {
  return Number.isSafeInteger(pid) && inspectProcess(pid)?.started === started;
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
