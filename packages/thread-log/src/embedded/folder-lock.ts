import { randomBytes } from "node:crypto";
import { linkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ThroughlineError } from "@throughline/ai-core";
import { type FoundClaim, isRunningHere, judgeClaim, keepClaim, ownClaim, readClaim } from "./claim.js";
import { thisHost } from "./host-identity.js";

export interface FolderLock {
  release(): void;
}

export interface LockWait {
  readonly timeoutMs?: number;
  /** Called once, with the pid of the holder and the name of its host. */
  readonly onWait?: (holder: number, host: string) => void;
}

const POLL_MS = 25;
const TIMEOUT_MS = 180_000;

/** A mutex between processes: the lock of a process that died is taken over, that of another host once it stands still. */
export async function lockFolder(path: string, wait: LockWait = {}): Promise<FolderLock> {
  const deadline = performance.now() + (wait.timeoutMs ?? TIMEOUT_MS);
  let announced = false;
  for (;;) {
    const lock = tryLockFolder(path);
    if (lock) return lock;
    const holder = readClaim(path);
    if (holder !== undefined && !announced) {
      wait.onWait?.(holder.pid, holder.host?.name ?? thisHost.name);
      announced = true;
    }
    if (performance.now() > deadline) {
      throw new ThroughlineError(
        "internal",
        `Process ${holder?.pid ?? "unknown"} on ${holder?.host?.name ?? "this host"} holds ${path}. End it, or remove that file if it is none of ours.`,
      );
    }
    await delay(POLL_MS);
  }
}

/** Synchronous, because a process on its way out can't wait. */
export function tryLockFolder(path: string): FolderLock | undefined {
  const claim = `${path}.${process.pid}-${randomBytes(6).toString("hex")}`;
  writeFileSync(claim, ownClaim(), { flag: "wx", mode: 0o644 });
  try {
    for (let attempt = 0; attempt < 2; attempt++) {
      // A link appears with its content or not at all: nobody ever reads a half-written claim.
      if (linked(claim, path)) return held(path);
      if (!removeStale(path, claim)) return undefined;
    }
    return undefined;
  } finally {
    rmSync(claim, { force: true });
  }
}

function held(path: string): FolderLock {
  const stopBeating = keepClaim(path, () => {});
  return {
    release() {
      stopBeating();
      rmSync(path, { force: true });
    },
  };
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
  // Our own claim was written a moment ago, on the same file system.
  const { mtimeMs: now } = statSync(claim);
  if (mayLive(holder, now)) return false;
  const aside = `${claim}.stale`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (isCode(error, "ENOENT")) return true;
    throw error;
  }
  const moved = readClaim(aside);
  if (moved && mayLive(moved, now)) linked(aside, path);
  rmSync(aside, { force: true });
  return true;
}

function mayLive(holder: FoundClaim, now: number): boolean {
  const evidence = {
    here: thisHost,
    isRunning: isRunningHere(holder),
    ageMs: now - holder.mtimeMs,
    hasBeaten: false,
  };
  return judgeClaim(holder, evidence) !== "dead";
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
