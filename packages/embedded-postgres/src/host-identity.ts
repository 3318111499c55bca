import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Where a process runs, for others who find its name in a folder they share with it. */
export interface HostIdentity {
  /** For people. */
  readonly name: string;
  /** Equal for processes that know each other's pids: one boot of one machine, one pid namespace. */
  readonly space: string;
}

export const thisHost: HostIdentity = { name: hostname(), space: readSpace() };

/** `undefined` for anything but what was written as JSON of a `HostIdentity`. */
export function parseHost(text: string): HostIdentity | undefined {
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
    // Not Linux: containers there run in a Linux of their own, and what is left is one space per machine.
    return hostname();
  }
}
