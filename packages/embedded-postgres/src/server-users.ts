import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type FoundClaim, isOfHere, isRunningHere, keepClaim, ownStart, readStamped } from "./claim.js";
import { parseHost, thisHost } from "./host-identity.js";

export interface ServerUser {
  leave(): void;
}

/** Says that this process uses the server; the last one to leave stops it. Call under the folder's lock. */
export function joinServer(folder: string, onMissing: () => void): ServerUser {
  mkdirSync(folder, { recursive: true });
  // The host is in the name: versions that know of none read the pid before it, and the start from the file.
  const host = Buffer.from(JSON.stringify(thisHost)).toString("base64url");
  const file = join(folder, `${process.pid}-${randomBytes(6).toString("hex")}@${host}`);
  writeFileSync(file, ownStart(), { mode: 0o644 });
  const stopBeating = keepClaim(file, onMissing);
  return {
    leave() {
      stopBeating();
      rmSync(file, { force: true });
    },
  };
}

/** Whether a process of this host uses it. Removes those that died without leaving. */
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

export interface ForeignUser extends FoundClaim {
  readonly file: string;
  readonly hostName: string;
}

/** Users on other hosts, alive or not. */
export function foreignUsers(folder: string): readonly ForeignUser[] {
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
