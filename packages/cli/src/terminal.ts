import type { Readable } from "node:stream";
import { type Paint, paintFor, printable, type Span } from "./transcript/span.js";

/** Where a command prints and what it reads, so that a test can stand in for a person. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** A person is at both ends. */
  readonly isInteractive: boolean;
  readonly paint: Paint;
  /** What the command was asked for. */
  print(text: string): void;
  show(spans: readonly Span[]): void;
  /** A word beside it, on stderr: a pipe gets what was asked for alone. */
  note(text: string): void;
  /** Why it could not be done, on stderr. */
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
