import { PassThrough } from "node:stream";
import type { Terminal } from "../terminal/terminal.js";

/** A terminal that remembers what it was given; what it reads is a pipe. */
export interface RecordedTerminal extends Terminal {
  printed(): string;
  /** Notes and complaints, a line each. */
  said(): readonly string[];
}

export function recordedTerminal({
  env = {},
  cwd = "/",
  lines = [],
}: {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly lines?: readonly string[];
} = {}): RecordedTerminal {
  let printed = "";
  const said: string[] = [];
  const input = new PassThrough();
  input.end(lines.map((line) => `${line}\n`).join(""));
  return {
    env,
    cwd,
    input,
    output: new PassThrough(),
    isInteractive: false,
    paint: ({ text }) => text,
    print(text) {
      printed += text;
    },
    show(spans) {
      printed += spans.map(({ text }) => text).join("");
    },
    note: (text) => void said.push(text),
    complain: (text) => void said.push(text),
    printed: () => printed,
    said: () => said,
  };
}
