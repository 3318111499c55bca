import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileSystemNow, isOfHere, judgeClaim } from "./claim.js";
import { type HostIdentity, parseHost, thisHost } from "./host-identity.js";
import type { ServerHome } from "./server-home.js";
import { type ForeignUser, foreignUsers } from "./server-users.js";
import { heldElsewhere } from "./start-failure.js";

const POLL_MS = 250;
/** A server whose `postmaster.pid` is gone notices within a minute, and ends itself. */
const ORPHAN_MS = 65_000;

export interface TakeOverOptions {
  readonly log: (line: string) => void;
  readonly orphanMs?: number;
}

/**
 * Sees to it that no other host uses the folder: throws while one does, waits while that is not certain, and removes what one
 * left behind that uses it no longer. Call under the folder's lock. Two servers on one cluster would destroy it.
 */
export async function endForeignHold(
  dataDir: string,
  home: ServerHome | undefined,
  { log, orphanMs = ORPHAN_MS }: TakeOverOptions,
): Promise<void> {
  const gone = await untilForeignUsersGone(dataDir, log);
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

async function untilForeignUsersGone(
  dataDir: string,
  log: (line: string) => void,
): Promise<readonly ForeignUser[]> {
  const folder = join(dataDir, "users");
  const first = foreignUsers(folder);
  const [someone] = first;
  if (someone === undefined) return [];
  log(`${dataDir} was used on ${someone.hostName}; looking whether it still is.`);
  const lookedFrom = performance.now();
  const firstSeen = new Map(first.map(({ file, mtimeMs }) => [file, mtimeMs]));
  for (;;) {
    const now = fileSystemNow(join(dataDir, "lock"));
    const users = foreignUsers(folder);
    const states = users.map((user) => {
      // A time to come is no sign of life: then only what we see ourselves counts.
      const ageMs = Math.max(now - user.mtimeMs, performance.now() - lookedFrom);
      const hasBeaten = firstSeen.get(user.file) !== user.mtimeMs;
      return judgeClaim(user, { here: thisHost, isRunning: false, ageMs, hasBeaten });
    });
    const alive = users[states.indexOf("alive")];
    if (alive) throw heldElsewhere(dataDir, alive.hostName);
    if (!states.includes("unsure")) break;
    await delay(POLL_MS);
  }
  for (const { file, hostName } of foreignUsers(folder)) {
    log(`${hostName} uses ${dataDir} no longer; taking it over.`);
    rmSync(file, { force: true });
  }
  return first;
}

const SERVER_HOST = "server-host";

/** Says whose pid `postmaster.pid` holds. Call before the server is started. */
export function writeServerHost({ folder }: ServerHome): void {
  writeFileSync(join(folder, SERVER_HOST), JSON.stringify(thisHost), { mode: 0o644 });
}

/** `undefined` of a server from before hosts were told apart. */
export function readServerHost({ folder }: ServerHome): HostIdentity | undefined {
  try {
    return parseHost(readFileSync(join(folder, SERVER_HOST), "utf8"));
  } catch {
    return undefined;
  }
}
