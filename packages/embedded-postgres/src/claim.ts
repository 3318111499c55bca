import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { type HostIdentity, thisHost } from "./host-identity.js";
import { inspectProcess } from "./inspect-process.js";

/**
 * A file in a folder that several processes share, by which one says that it uses the folder. Processes of one host know from
 * the pid whether it lives. On another host (a container that shares the volume) that pid is none, or another program's: there
 * a claim counts as long as its file is written again and again.
 */
export interface Claim {
  readonly pid: number;
  /** When its process started, which tells it from a later one with the same pid. */
  readonly started: string;
  /** `undefined` of a claim from before hosts were told apart. */
  readonly host: HostIdentity | undefined;
}

/** `unsure`: of another host, and not old enough to be given up. */
export type ClaimState = "alive" | "dead" | "unsure";

export interface ClaimEvidence {
  readonly here: HostIdentity;
  /** Whether this very process runs here. */
  readonly isRunning: boolean;
  /** How long ago the file was written, by the clock of its own file system. */
  readonly ageMs: number;
  /** It was written again while we looked on. */
  readonly hasBeaten: boolean;
}

const BEAT_MS = 5_000;
/** Six beats: a machine that is so slow has other troubles. */
const STALE_MS = 30_000;

export function judgeClaim({ host }: Claim, evidence: ClaimEvidence): ClaimState {
  if (isOfHere(host, evidence.here)) return evidence.isRunning ? "alive" : "dead";
  if (evidence.hasBeaten) return "alive";
  return evidence.ageMs < STALE_MS ? "unsure" : "dead";
}

export function isOfHere(host: HostIdentity | undefined, here: HostIdentity = thisHost): boolean {
  return host === undefined || host.space === here.space;
}

export function isRunningHere({ pid, started }: Claim): boolean {
  return Number.isSafeInteger(pid) && inspectProcess(pid)?.started === started;
}

export function ownStart(): string {
  return inspectProcess(process.pid)?.started ?? "";
}

export interface FoundClaim extends Claim {
  readonly mtimeMs: number;
}

/** A file's text and when it was written; `undefined` where there is no such file. */
export function readStamped(path: string): { readonly text: string; readonly mtimeMs: number } | undefined {
  try {
    const { mtimeMs } = statSync(path);
    return { text: readFileSync(path, "utf8"), mtimeMs };
  } catch {
    return undefined;
  }
}

/** What time it is for the file system of this path: another machine's clock, where it is a network's. */
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
 * Writes the claim's file every few seconds, so that other hosts see that we live, until the returned function is called.
 * `onMissing`: the file is gone, perhaps because this process stood still for so long that another host took the folder over.
 */
export function keepClaim(path: string, onMissing: () => void, everyMs = BEAT_MS): () => void {
  const timer = setInterval(() => {
    if (!beat(path)) onMissing();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Writes a byte that is there already: the file system stamps the time, and no reader finds the file empty. */
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
