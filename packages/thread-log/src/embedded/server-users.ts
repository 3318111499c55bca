import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type FoundClaim, isOfHere, isRunningHere, keepClaim, ownClaim, readClaim } from "./claim.js";

export interface ServerUser {
  leave(): void;
}

/** Says that this process uses the server; the last one to leave stops it. Call under the folder's lock. */
export function joinServer(folder: string, onLost: () => void): ServerUser {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${process.pid}-${randomBytes(6).toString("hex")}`);
  writeFileSync(file, ownClaim(), { mode: 0o644 });
  const stopBeating = keepClaim(file, onLost);
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
    const user = readClaim(file);
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
    const user = readClaim(file);
    if (!user || isOfHere(user.host)) return [];
    return [{ ...user, file, hostName: user.host?.name ?? "unknown" }];
  });
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}
