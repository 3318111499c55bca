export type Tone = "plain" | "dim" | "strong" | "call" | "bad" | "mark";

/** A piece of what a terminal shows. */
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

/** Colours where a person looks; none in a pipe, in a terminal that has none, or under NO_COLOR (any value but an empty one). */
export function paintFor(
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
