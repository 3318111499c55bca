import { randomBytes } from "node:crypto";
import { linkSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ThroughlineError } from "@throughline/ai-core";
import { type FoundClaim, isRunningHere, judgeClaim, keepClaim, ownStart, readStamped } from "./claim.js";
import { parseHost, thisHost } from "./host-identity.js";

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
  const started = ownStart();
  // Beside the lock, because versions that know of no hosts take whatever else is in it for a part of the start.
  const hostFile = hostFileOf(path, process.pid, started);
  writeFileSync(claim, `${process.pid} ${started}`, { flag: "wx", mode: 0o644 });
  let lock: FolderLock | undefined;
  try {
    for (let attempt = 0; attempt < 2 && !lock; attempt++) {
      writeFileSync(hostFile, JSON.stringify(thisHost), { mode: 0o644 });
      // A link appears with its content or not at all, so no reader sees a half-written claim.
      if (linked(claim, path)) lock = held(path, hostFile);
      else if (!removeStale(path, claim)) break;
    }
    return lock;
  } finally {
    rmSync(claim, { force: true });
    if (!lock && !isOwn(path)) rmSync(hostFile, { force: true });
  }
}

function held(path: string, hostFile: string): FolderLock {
  const stopBeating = keepClaim(path, () => {});
  return {
    release() {
      stopBeating();
      rmSync(path, { force: true });
      rmSync(hostFile, { force: true });
    },
  };
}

/** One process may ask for a lock that it holds itself. */
function isOwn(path: string): boolean {
  return readClaim(path)?.pid === process.pid;
}

function hostFileOf(path: string, pid: number, started: string): string {
  return `${path}.host-${pid}-${started.replaceAll(/[^\w]/g, "_")}`;
}

function readClaim(path: string, lock = path): FoundClaim | undefined {
  const found = readStamped(path);
  if (!found) return undefined;
  const [word, ...words] = found.text.split(" ");
  const [pid, started] = [Number(word), words.join(" ")];
  const host = parseHost(readStamped(hostFileOf(lock, pid, started))?.text ?? "");
  return { pid, started, host, mtimeMs: found.mtimeMs };
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
  const moved = readClaim(aside, path);
  if (moved && mayLive(moved, now)) linked(aside, path);
  else if (moved) rmSync(hostFileOf(path, moved.pid, moved.started), { force: true });
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
