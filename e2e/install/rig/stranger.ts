import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A person with a folder outside the clone, who has the tarballs and what a registry gives. */
export interface Stranger {
  readonly folder: string;
  /** Runs a command to its end and returns what it printed. Throws with that where it fails. */
  run(command: string, args: readonly string[], options?: RunOptions): Promise<string>;
  /** Starts a command that goes on. */
  start(command: string, args: readonly string[], options?: RunOptions): StartedCommand;
  /** Ends what still runs, and deletes the folder. */
  leave(): Promise<void>;
}

export interface RunOptions {
  /** Below the stranger's folder. */
  readonly in?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface StartedCommand {
  printed(): string;
  readonly ended: Promise<number | string | null>;
  /** Ctrl-C, which a terminal sends to everything that runs in it. */
  interrupt(): Promise<number | string | null>;
}

const PASSED_ON = ["PATH", "HOME", "TMPDIR", "LANG", "npm_config_cache", "npm_config_registry"];

export function stranger(): Stranger {
  const folder = mkdtempSync(join(tmpdir(), "throughline-install-"));
  // A database that root starts runs as another user, who has to get in.
  chmodSync(folder, 0o755);
  const running: StartedCommand[] = [];

  function launch(command: string, args: readonly string[], options: RunOptions = {}): StartedCommand {
    const cwd = join(folder, options.in ?? ".");
    mkdirSync(cwd, { recursive: true });
    // Nothing of the clone's own environment: what a project needs must come with it.
    const own = Object.fromEntries(PASSED_ON.flatMap((name) => [[name, process.env[name]]]));
    const child = spawn(command, args, {
      cwd,
      env: { ...own, CI: "true", NO_COLOR: "1", THROUGHLINE_OFFLINE_PACE_MS: "0", ...options.env },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    return startedCommand(child);
  }

  return {
    folder,
    async run(command, args, options) {
      const started = launch(command, args, options);
      const code = await started.ended;
      if (code === 0) return started.printed();
      throw new Error(
        `${[command, ...args].join(" ")} ended with ${code}:\n${started.printed().slice(-6_000)}`,
      );
    },
    start(command, args, options) {
      const started = launch(command, args, options);
      running.push(started);
      return started;
    },
    async leave() {
      for (const started of running) await started.interrupt();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function startedCommand(child: ChildProcess): StartedCommand {
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      printed += chunk;
    });
  }
  let isOver = false;
  const ended = new Promise<number | string | null>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code ?? signal));
  }).finally(() => {
    isOver = true;
  });
  return {
    printed: () => printed,
    ended,
    async interrupt() {
      if (!isOver && child.pid !== undefined) process.kill(-child.pid, "SIGINT");
      return ended;
    },
  };
}
