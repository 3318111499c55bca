import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The wall clock of one process, which jumps while it runs; its stopwatch does not, as on a real machine. */
export interface FaultyClock {
  /** For the process whose clock it is. */
  readonly env: Readonly<Record<string, string>>;
  /** So many seconds ahead of the machine's clock, or behind it. Noticed within a second. */
  jumpTo(seconds: number): void;
  remove(): void;
}

const LIBRARIES = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib64/faketime/libfaketimeMT.so.1",
  "/usr/lib/faketime/libfaketimeMT.so.1",
];

/** Where libfaketime is; nothing where it is not installed. */
export function findClockLibrary(): string | undefined {
  return LIBRARIES.find((library) => existsSync(library));
}

export function createFaultyClock(library: string): FaultyClock {
  const folder = mkdtempSync(join(tmpdir(), "throughline-clock-"));
  const file = join(folder, "offset");
  const jumpTo = (seconds: number) =>
    writeFileSync(file, `${seconds < 0 ? "" : "+"}${Math.round(seconds)}\n`);
  jumpTo(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      DONT_FAKE_MONOTONIC: "1",
    },
    jumpTo,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
