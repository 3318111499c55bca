import { readdirSync, readFileSync } from "node:fs";

/** Linux counts CPU time in hundredths of a second, and memory in pages. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4_096;

/**
 * What a process and all that it started have used: CPU seconds since their start, ended children included, and memory now.
 * From `/proc`, so on Linux only.
 *
 * @param {readonly number[]} roots
 * @returns {{ cpuSeconds: number, residentBytes: number }}
 */
export function usageOf(roots) {
  const all = readProcesses();
  const wanted = new Set(roots);
  for (let size = -1; size !== wanted.size; ) {
    size = wanted.size;
    for (const [pid, { parent }] of all) if (wanted.has(parent)) wanted.add(pid);
  }
  const used = { cpuSeconds: 0, residentBytes: 0 };
  for (const pid of wanted) {
    const one = all.get(pid);
    used.cpuSeconds += one?.cpuSeconds ?? 0;
    used.residentBytes += one?.residentBytes ?? 0;
  }
  return used;
}

/** CPU seconds that the whole machine was busy with any process. */
export function machineCpuSeconds() {
  const [, user, nice, system, , , irq, softIrq] = readFileSync("/proc/stat", "utf8")
    .split("\n")[0]
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + softIrq) / TICKS_PER_SECOND;
}

function readProcesses() {
  const found = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(name);
    if (stat) found.set(Number(name), stat);
  }
  return found;
}

function readStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name, which may hold anything, is in brackets: what follows the last one is numbers, from field 3 on.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const field = (number) => Number(fields[number - 3]);
    return {
      parent: field(4),
      cpuSeconds: (field(14) + field(15) + field(16) + field(17)) / TICKS_PER_SECOND,
      residentBytes: field(24) * PAGE_BYTES,
    };
  } catch {
    // It ended while we were looking.
    return undefined;
  }
}
