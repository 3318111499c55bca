import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GroupRequest, ToProcess } from "./process-message.js";

/** A process that serves, as the one that started it sees it. */
export interface GroupedProcess {
  readonly process: { readonly pid?: number | undefined };
  isConnected(): boolean;
  send(message: ToProcess): unknown;
}

/** The processes that hand each other entries: tells each where to listen, and who else does. */
export interface HostGroup {
  heard(process: GroupedProcess, message: GroupRequest): void;
  left(process: GroupedProcess): void;
  close(): void;
}

/** `isWanted`: `false` where another bus connects them. `onRefused`: without a folder for sockets they read the database. */
export function createHostGroup({
  isWanted,
  onRefused,
}: {
  readonly isWanted: boolean;
  readonly onRefused: (error: unknown) => void;
}): HostGroup {
  const name = randomBytes(6).toString("base64url");
  const folder = isWanted ? makeFolder(onRefused) : undefined;
  const joined = new Map<GroupedProcess, string>();

  function tellMembers(): void {
    const addresses = [...joined.values()];
    for (const one of joined.keys()) if (one.isConnected()) one.send({ kind: "group_members", addresses });
  }

  function placeOf({ process: { pid } }: GroupedProcess) {
    if (folder === undefined || pid === undefined) return undefined;
    return { name, address: addressIn(folder, `${name}-${pid}`) };
  }

  return {
    heard(process, message) {
      switch (message.kind) {
        case "ask_group":
          process.send({ kind: "group", place: placeOf(process) });
          break;
        case "join_group":
          joined.set(process, message.address);
          tellMembers();
      }
    },
    left(process) {
      const address = joined.get(process);
      if (address === undefined) return;
      joined.delete(process);
      // One that was killed leaves its socket behind.
      if (!IS_WINDOWS) rmSync(address, { force: true });
      tellMembers();
    },
    close() {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

const IS_WINDOWS = process.platform === "win32";

/** Only the user that made it can enter it. */
function makeFolder(onRefused: (error: unknown) => void): string | undefined {
  try {
    return mkdtempSync(join(tmpdir(), "throughline-"));
  } catch (error) {
    onRefused(error);
    return undefined;
  }
}

function addressIn(folder: string, name: string): string {
  return IS_WINDOWS ? `\\\\.\\pipe\\throughline-${name}` : join(folder, `${name}.sock`);
}
