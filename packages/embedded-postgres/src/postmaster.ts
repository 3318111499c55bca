import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";

/** Finds a port that was free a moment ago: the caller must be ready to request another. */
export function findFreePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      server.close(() => {
        if (address && typeof address === "object") resolve(address.port);
        else reject(new Error("No port was given."));
      });
    });
  });
}

/** The environment of a child: only what a program needs to run, because ours holds keys that a database must not get. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const passed: NodeJS.ProcessEnv = { LC_ALL: "C" };
  for (const name of ["PATH", "SystemRoot", "TEMP", "TMPDIR"]) {
    const value = process.env[name];
    if (value !== undefined) passed[name] = value;
  }
  return passed;
}

export interface RunningProcess {
  /** Differs between two processes that were given the same pid one after the other. */
  readonly started: string;
  readonly command: string;
}

/** `undefined` when nothing runs under this pid. A zombie does not run: it holds no file, port or lock any more. */
export function inspectProcess(pid: number): RunningProcess | undefined {
  if (process.platform === "linux") return inspectProc(pid);
  if (process.platform === "win32") return inspectWindows(pid);
  return inspectByPs(pid);
}

function inspectProc(pid: number): RunningProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may itself hold spaces and parentheses; fields are counted from the last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, started] = [fields[0], fields[19]];
    if (state === "Z" || state === "X" || started === undefined) return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
    return { started, command };
  } catch {
    return undefined;
  }
}

function inspectByPs(pid: number): RunningProcess | undefined {
  try {
    const options = ["-ww", "-o", "stat=,lstart=,command=", "-p", String(pid)];
    const line = execFileSync("ps", options, { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } });
    // `Ss   Sun Nov 15 20:55:59 2026 /path/postgres -D …`: the start is always five words.
    const match = /^(\S+)\s+((?:\S+\s+){4}\S+)\s+(.*)$/.exec(line.trim());
    const [, state, started, command] = match ?? [];
    if (state === undefined || started === undefined || state.startsWith("Z")) return undefined;
    return { started, command: command ?? "" };
  } catch {
    return undefined;
  }
}

function inspectWindows(pid: number): RunningProcess | undefined {
  try {
    process.kill(pid, 0);
    const filter = ["/fi", `PID eq ${pid}`, "/fo", "csv", "/nh"];
    return { started: "", command: execFileSync("tasklist", filter, { encoding: "utf8" }).trim() };
  } catch {
    return undefined;
  }
}

/** Whether a pid runs, as cheap as the platform allows, for polling. A pid that another program has now passes for running. */
export function isRunning(pid: number): boolean {
  if (process.platform === "linux") return inspectProc(pid) !== undefined;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
