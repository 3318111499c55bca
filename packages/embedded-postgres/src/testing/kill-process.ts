import { setTimeout as delay } from "node:timers/promises";
import { inspectProcess } from "../postmaster.js";

/** SIGKILL, and back when the process is gone: what follows must not race a process that still holds its port. */
export async function killProcess(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  while (inspectProcess(pid)) await delay(5);
}
