import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ThroughlineError } from "@throughline/ai-core";
import { heldElsewhere } from "./errors.js";
import { inspectProcess } from "./postmaster.js";
import type { DataFolder } from "./run-as.js";

/**
 * A file by which a process claims the use of a folder that several processes share. Processes of one host know from the pid
 * whether it lives. On another host (a container that shares the volume) that pid is none, or another program's: there a claim
 * counts as long as heartbeats rewrite its file.
 */
export interface HostClaim {
  readonly pid: number;
  /** The start time of its process, which distinguishes it from a later process with the same pid. */
  readonly started: string;
  /** `undefined` for a claim by a version that did not record hosts. */
  readonly host: HostIdentity | undefined;
}

/** `unsure`: a claim of another host that is not old enough to count as dead. */
export type ClaimState = "alive" | "dead" | "unsure";

export interface ClaimEvidence {
  readonly here: HostIdentity;
  /** Whether the process of the claim runs on this host. */
  readonly isRunning: boolean;
  /** The age of the file, by the clock of its own file system. */
  readonly ageMs: number;
  /** The file was rewritten while this process watched. */
  readonly hasBeaten: boolean;
}

const BEAT_MS = 5_000;
/** Six beats: a machine that is so slow has other troubles. */
const STALE_MS = 30_000;

export function judgeClaim({ host }: HostClaim, evidence: ClaimEvidence): ClaimState {
  if (isOfHere(host, evidence.here)) return evidence.isRunning ? "alive" : "dead";
  if (evidence.hasBeaten) return "alive";
  return evidence.ageMs < STALE_MS ? "unsure" : "dead";
}

export function isOfHere(host: HostIdentity | undefined, here: HostIdentity = thisHost): boolean {
  return host === undefined || host.space === here.space;
}

function isRunningHere({ pid, started }: HostClaim): boolean {
  return Number.isSafeInteger(pid) && inspectProcess(pid)?.started === started;
}

function ownStart(): string {
  return inspectProcess(process.pid)?.started ?? "";
}

interface FoundClaim extends HostClaim {
  readonly mtimeMs: number;
}

/** A file's text and when it was written; `undefined` where there is no such file. */
function readStamped(path: string): { readonly text: string; readonly mtimeMs: number } | undefined {
  try {
    const { mtimeMs } = statSync(path);
    return { text: readFileSync(path, "utf8"), mtimeMs };
  } catch {
    return undefined;
  }
}

/** The current time of this path's file system: on a network file system, another machine's clock. */
export function fileSystemNow(path: string): number {
  const probe = `${path}.now-${process.pid}`;
  writeFileSync(probe, "");
  try {
    return statSync(probe).mtimeMs;
  } finally {
    rmSync(probe, { force: true });
  }
}

/**
 * Renews the claim's file every few seconds, so that other hosts see that this process lives. The returned function stops it.
 * `onMissing`: the file is gone, perhaps because this process was suspended for so long that another host recovered the folder.
 */
export function renewClaim(path: string, onMissing: () => void, everyMs = BEAT_MS): () => void {
  const timer = setInterval(() => {
    if (!beat(path)) onMissing();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Rewrites the first byte with itself: the file system updates the time, and no reader finds the file empty. */
function beat(path: string): boolean {
  try {
    const file = openSync(path, "r+");
    try {
      const first = Buffer.alloc(1);
      if (readSync(file, first, 0, 1, 0) === 1) writeSync(file, first, 0, 1, 0);
    } finally {
      closeSync(file);
    }
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ENOENT");
  }
}

const HOLD_POLL_MS = 250;
/** A server whose `postmaster.pid` is gone notices within a minute, and ends itself. */
const ORPHAN_MS = 65_000;

export interface TakeOverOptions {
  readonly log: (line: string) => void;
  readonly orphanMs?: number;
}

/**
 * Recovers the folder from another host: throws while that host uses it, waits while that is uncertain, and removes what a dead
 * one left behind. Call under the folder's lock. Two servers on one cluster would destroy it.
 */
export async function takeOverFromOtherHost(
  dataDir: string,
  home: DataFolder | undefined,
  { log, orphanMs = ORPHAN_MS }: TakeOverOptions,
): Promise<void> {
  const gone = await waitForRemoteUsers(dataDir, log);
  const host = home && readServerHost(home);
  if (!home || !host || isOfHere(host)) return;
  const pidFile = join(home.cluster, "postmaster.pid");
  if (!existsSync(pidFile)) return;
  rmSync(pidFile, { force: true });
  // A container or machine that came up again under its name took the server down with it.
  if (host.name === thisHost.name) return;
  if (gone.length === 0) log(`The PostgreSQL in ${dataDir} was started on ${host.name}.`);
  log(
    `Waiting ${Math.ceil(orphanMs / 1_000)} s, in which a PostgreSQL that still runs on ${host.name} ends itself.`,
  );
  await delay(orphanMs);
}

async function waitForRemoteUsers(
  dataDir: string,
  log: (line: string) => void,
): Promise<readonly RemoteUser[]> {
  const folder = join(dataDir, "users");
  const first = remoteUsers(folder);
  const [someone] = first;
  if (someone === undefined) return [];
  log(`${dataDir} was used on ${someone.hostName}; looking whether it still is.`);
  const watchStart = performance.now();
  const firstSeen = new Map(first.map(({ file, mtimeMs }) => [file, mtimeMs]));
  for (;;) {
    const now = fileSystemNow(join(dataDir, "lock"));
    const users = remoteUsers(folder);
    const states = users.map((user) => {
      // A time in the future is no sign of life: then only the time that this process has watched counts.
      const ageMs = Math.max(now - user.mtimeMs, performance.now() - watchStart);
      const hasBeaten = firstSeen.get(user.file) !== user.mtimeMs;
      return judgeClaim(user, { here: thisHost, isRunning: false, ageMs, hasBeaten });
    });
    const alive = users[states.indexOf("alive")];
    if (alive) throw heldElsewhere(dataDir, alive.hostName);
    if (!states.includes("unsure")) break;
    await delay(HOLD_POLL_MS);
  }
  for (const { file, hostName } of remoteUsers(folder)) {
    log(`${hostName} uses ${dataDir} no longer; taking it over.`);
    rmSync(file, { force: true });
  }
  return first;
}

const SERVER_HOST = "server-host";

/** Records the host whose pid `postmaster.pid` holds. Call before the server is started. */
export function writeServerHost({ folder }: DataFolder): void {
  writeFileSync(join(folder, SERVER_HOST), JSON.stringify(thisHost), { mode: 0o644 });
}

/** The host that the server runs on; `undefined` for one started by a version that did not record hosts. */
export function readServerHost({ folder }: DataFolder): HostIdentity | undefined {
  try {
    return parseHost(readFileSync(join(folder, SERVER_HOST), "utf8"));
  } catch {
    return undefined;
  }
}

/** The host of a process, for other processes that share a folder with it. */
export interface HostIdentity {
  /** The host's name, for log lines and errors. */
  readonly name: string;
  /** The pid space, equal for processes that know each other's pids: one boot of one machine, one pid namespace. */
  readonly space: string;
}

export const thisHost: HostIdentity = { name: hostname(), space: readSpace() };

/** Parses a `HostIdentity` from JSON; `undefined` for any other text. */
function parseHost(text: string): HostIdentity | undefined {
  try {
    const host: unknown = JSON.parse(text);
    if (typeof host !== "object" || host === null || !("name" in host) || !("space" in host))
      return undefined;
    return { name: String(host.name), space: String(host.space) };
  } catch {
    return undefined;
  }
}

function readSpace(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // Not Linux: containers there run in a Linux of their own, so each machine has one pid space.
    return hostname();
  }
}

export interface ServerUser {
  leave(): void;
}

/** Registers this process as a user of the server; the last one to leave stops it. Call under the folder's lock. */
export function joinServer(folder: string, onMissing: () => void): ServerUser {
  mkdirSync(folder, { recursive: true });
  // The host is in the file's name: versions that record no host read the pid before it, and the start from the content.
  const host = Buffer.from(JSON.stringify(thisHost)).toString("base64url");
  const file = join(folder, `${process.pid}-${randomBytes(6).toString("hex")}@${host}`);
  writeFileSync(file, ownStart(), { mode: 0o644 });
  const stopBeating = renewClaim(file, onMissing);
  return {
    leave() {
      stopBeating();
      rmSync(file, { force: true });
    },
  };
}

/** Whether a process of this host uses the server. Removes users that died without leaving. */
export function isServerInUse(folder: string): boolean {
  let inUse = false;
  for (const file of filesIn(folder)) {
    const user = readUser(file);
    if (!user || !isOfHere(user.host)) continue;
    if (isRunningHere(user)) inUse = true;
    else rmSync(file, { force: true });
  }
  return inUse;
}

interface RemoteUser extends FoundClaim {
  readonly file: string;
  readonly hostName: string;
}

/** Users on other hosts, alive or not. */
export function remoteUsers(folder: string): readonly RemoteUser[] {
  return filesIn(folder).flatMap((file) => {
    const user = readUser(file);
    if (!user || isOfHere(user.host)) return [];
    return [{ ...user, file, hostName: user.host?.name ?? "unknown" }];
  });
}

function readUser(file: string): FoundClaim | undefined {
  const found = readStamped(file);
  if (!found) return undefined;
  const [name, host = ""] = basename(file).split("@");
  return {
    pid: Number.parseInt(name ?? "", 10),
    started: found.text,
    host: parseHost(Buffer.from(host, "base64url").toString()),
    mtimeMs: found.mtimeMs,
  };
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

export interface FolderLock {
  release(): void;
}

export interface LockWait {
  readonly timeoutMs?: number;
  /** Called once, with the pid of the holder and the name of its host. */
  readonly onWait?: (holder: number, host: string) => void;
}

const LOCK_POLL_MS = 25;
const TIMEOUT_MS = 180_000;

/** A mutex between processes. The lock of a dead process is recovered, that of another host once its heartbeats end. */
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
    await delay(LOCK_POLL_MS);
  }
}

/** Synchronous, because a process on its way out can't wait. */
export function tryLockFolder(path: string): FolderLock | undefined {
  const claim = `${path}.${process.pid}-${randomBytes(6).toString("hex")}`;
  const started = ownStart();
  // In a file next to the lock, because versions that record no host read any more text in the lock as a part of the start.
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
  const stopBeating = renewClaim(path, () => {});
  return {
    release() {
      stopBeating();
      rmSync(path, { force: true });
      rmSync(hostFile, { force: true });
    },
  };
}

/** Whether this process holds the lock: it may request one that it holds itself. */
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

/** Removes a dead holder's lock. Two processes may find the same one: each moves the file aside, and puts back a live lock. */
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
