import type { Readable } from "node:stream";

/** The input and output of a command, a port so that a test can replace the person. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Input and output are terminals of a person. */
  readonly isInteractive: boolean;
  readonly paint: Paint;
  /** Prints the result of the command, on stdout. */
  print(text: string): void;
  show(spans: readonly Span[]): void;
  /** Prints a note on stderr, so that a pipe gets the result alone. */
  note(text: string): void;
  /** Prints the reason of a failure, on stderr. */
  complain(text: string): void;
}

export function processTerminal(): Terminal {
  const { env, stdin, stdout, stderr } = process;
  const paint = paintFor(stdout, env);
  const paintNote = paintFor(stderr, env);
  return {
    env,
    cwd: process.cwd(),
    input: stdin,
    output: stdout,
    isInteractive: stdin.isTTY === true && stdout.isTTY === true,
    paint,
    print: (text) => void stdout.write(text),
    show: (spans) => void stdout.write(spans.map(paint).join("")),
    note: (text) => void stderr.write(`${paintNote({ tone: "dim", text: printable(text) })}\n`),
    complain: (text) => void stderr.write(`${paintNote({ tone: "bad", text: printable(text) })}\n`),
  };
}

export type Tone = "plain" | "dim" | "strong" | "call" | "bad" | "mark";

/** A piece of terminal output with its tone. */
export interface Span {
  readonly tone: Tone;
  readonly text: string;
}

const CODES: Readonly<Record<Exclude<Tone, "plain">, number>> = {
  dim: 2,
  strong: 1,
  call: 36,
  bad: 31,
  mark: 33,
};

export type Paint = (span: Span) => string;

/** Paints in colours on a terminal; not in a pipe, in a terminal without them, or under NO_COLOR (any value but an empty one). */
function paintFor(
  output: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Paint {
  const hasColours = output.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  return ({ tone, text }) =>
    !hasColours || tone === "plain" ? text : `\u001b[${CODES[tone]}m${text}\u001b[0m`;
}

/**
 * Text that others wrote, safe to print: a terminal obeys escape sequences, and bidirectional overrides show a command as
 * another one.
 */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, "");
}

/** Rows in columns, as wide as they must be; the last column is as long as it is. */
export function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map((cell) => printable(cell).replace(/\s+/g, " ")));
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(...cells.map((row) => [...(row[column] ?? "")].length)),
  );
  return cells
    .map((row) => {
      const line = row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - [...cell].length));
      return `${line.join("  ").trimEnd()}\n`;
    })
    .join("");
}

/** `3 min ago`, `in 2 h`: how people speak of times that are near. */
export function nearTime(iso: string | null, now: number): string {
  if (iso === null) return "-";
  const away = Date.parse(iso) - now;
  const [size, unit] = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ].find(([each]) => Math.abs(away) >= Number(each)) ?? [1_000, "s"];
  const count = `${Math.round(Math.abs(away) / Number(size))} ${unit}`;
  return away < 0 ? `${count} ago` : `in ${count}`;
}
