import { execFileSync, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const PROGRAM = fileURLToPath(new URL("../../packages/cli/bin/throughline.mjs", import.meta.url));
const PATIENCE_MS = 60_000;
const PROMPT = "shell> ";

/** A real terminal with a shell in it, in which `throughline` is a command. */
export interface TmuxTerminal {
  /** Types a line and presses Enter. */
  type(line: string): void;
  /** As tmux names keys: `C-c`, `C-d`. */
  press(key: string): void;
  /** Everything it has shown, from the top, without spaces at the ends of lines. */
  text(options?: { readonly withColours?: boolean }): string;
  /** Waits until it shows this after what was waited for before; gives what it then shows since. */
  until(wanted: string | RegExp): Promise<string>;
  /** Waits until the shell asks for a command. */
  untilPrompt(): Promise<string>;
  /** Runs a command to its end; gives what it printed and its exit code. */
  run(line: string): Promise<{ readonly printed: string; readonly code: number }>;
  close(): void;
}

/** On a machine that builds for others a missing tmux is a failure; elsewhere it is said, and what needs it is left out. */
export function hasTmux(): boolean {
  if (spawnSync("tmux", ["-V"], { stdio: "ignore" }).status === 0) return true;
  if (process.env.CI === "true") throw new Error("There is no tmux: install it, the CLI is driven in it.");
  console.log("Left out: there is no tmux to drive the CLI in. Install it to run these.");
  return false;
}

export function openTerminal(options: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}): TmuxTerminal {
  const name = `throughline-${randomUUID().slice(0, 8)}`;
  const programs = mkdtempSync(join(tmpdir(), "throughline-bin-"));
  symlinkSync(PROGRAM, join(programs, "throughline"));
  // A server of its own, so that nothing of the person's own tmux is seen or touched.
  const tmux = (...args: readonly string[]) =>
    execFileSync("tmux", ["-L", name, "-f", "/dev/null", ...args], { encoding: "utf8" });
  const env = { PS1: PROMPT, PATH: `${programs}:${process.env.PATH}`, LANG: "C.UTF-8", ...options.env };
  // Given to the shell itself: tmux keeps a PATH of its own.
  const variables = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  const shell = ["env", "-u", "THROUGHLINE_SEED", "-u", "CI", ...variables, "bash", "--norc", "--noprofile"];
  const size = ["-x", "160", "-y", "50"];
  tmux("-u", "new-session", "-d", "-s", name, ...size, "-c", options.cwd, ...shell);
  let seen = 0;

  function text({ withColours = false } = {}): string {
    return tmux("capture-pane", "-p", "-J", ...(withColours ? ["-e"] : []), "-S", "-", "-t", name)
      .replace(/[ \t]+$/gm, "")
      .trimEnd();
  }

  async function until(wanted: string | RegExp): Promise<string> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const shown = text();
      // A prompt that was taken back makes it shorter.
      seen = Math.min(seen, shown.length);
      const since = shown.slice(seen);
      const at = typeof wanted === "string" ? since.indexOf(wanted) : since.search(wanted);
      if (at >= 0) {
        const length = typeof wanted === "string" ? wanted.length : (wanted.exec(since)?.[0].length ?? 0);
        seen += at + length;
        return since.slice(0, at + length);
      }
      if (performance.now() > end) throw new Error(`never showed ${wanted}, but:\n${text()}`);
      await pause(50);
    }
  }

  const type = (line: string) => {
    tmux("send-keys", "-t", name, "-l", "--", line);
    tmux("send-keys", "-t", name, "Enter");
  };
  return {
    type,
    press: (key) => void tmux("send-keys", "-t", name, key),
    text,
    until,
    untilPrompt: () => until(PROMPT.trim()),
    async run(line) {
      const mark = `code-${randomUUID().slice(0, 6)}`;
      type(`${line}; echo "${mark.slice(0, 4)}""${mark.slice(4)} $?"`);
      await until("\n");
      const printed = await until(new RegExp(`${mark} \\d+`));
      const [, code] = new RegExp(`${mark} (\\d+)`).exec(printed) ?? [];
      return { printed: printed.replace(new RegExp(`\\n?${mark} \\d+$`), ""), code: Number(code) };
    },
    close() {
      spawnSync("tmux", ["-L", name, "kill-server"], { stdio: "ignore" });
      rmSync(programs, { recursive: true, force: true });
    },
  };
}
