import { type Json, ThroughlineError } from "@throughline/ai-core";
import { z } from "zod";

/** An error in a log line. */
export interface DescribedError {
  readonly type: string;
  readonly code?: string | number;
  readonly message?: string;
  readonly details?: Readonly<Record<string, Json>>;
  readonly stack?: string;
  readonly cause?: DescribedError;
  /** The first errors of an `AggregateError`. */
  readonly errors?: readonly DescribedError[];
}

export interface DescribeOptions {
  /** Whether external errors are shown with their stack. Errors of ours always are. */
  readonly withStack: boolean;
}

const MAX_DEPTH = 6;
const MAX_ERRORS = 4;

/**
 * Describes an error for a log. Errors of ours are shown whole: their messages are written for people. Of an external error its
 * name, code and scrubbed message are shown and nothing else, because other fields hold data (`detail` and `where` of
 * PostgreSQL, a response of a model). Never throws, whatever was thrown.
 */
export function describeError(error: unknown, options: DescribeOptions): DescribedError {
  return describe(error, options, MAX_DEPTH);
}

function describe(error: unknown, options: DescribeOptions, depth: number): DescribedError {
  try {
    if (error instanceof ThroughlineError) return describeOurs(error, options, depth);
    if (error instanceof Error) return describeExternal(error, options, depth);
    return typeof error === "string"
      ? { type: "string", message: scrubText(error) }
      : { type: error === null ? "null" : typeof error };
  } catch {
    // A getter of the error threw.
    return { type: "unreadable" };
  }
}

function describeOurs(error: ThroughlineError, options: DescribeOptions, depth: number): DescribedError {
  const { name: type, code, message, details, stack } = error;
  return {
    type,
    code,
    message,
    ...(Object.keys(details).length > 0 && { details }),
    ...(stack !== undefined && { stack }),
    ...nested(error, options, depth),
  };
}

function describeExternal(error: Error, options: DescribeOptions, depth: number): DescribedError {
  const type = plainWord(error.name) ?? "Error";
  const code = codeOf(error);
  const message = messageOf(error);
  return {
    type,
    ...(code !== undefined && { code }),
    ...(message !== "" && { message }),
    ...(options.withStack && { stack: [`${type}: ${message}`, ...framesOf(error)].join("\n") }),
    ...nested(error, options, depth),
  };
}

function nested(
  error: Error,
  options: DescribeOptions,
  depth: number,
): Pick<DescribedError, "cause" | "errors"> {
  if (depth === 0) return {};
  const errors = error instanceof AggregateError ? error.errors.slice(0, MAX_ERRORS) : [];
  return {
    ...(error.cause !== undefined && { cause: describe(error.cause, options, depth - 1) }),
    ...(errors.length > 0 && { errors: errors.map((one) => describe(one, options, depth - 1)) }),
  };
}

/** Returns an error's message. A `ZodError`'s is JSON over many lines; its issues name fields and expectations, never values. */
function messageOf(error: Error): string {
  if (!(error instanceof z.ZodError)) return scrubText(String(error.message));
  const issues = error.issues.slice(0, MAX_ERRORS);
  return scrubText(
    issues
      .map(({ path, message }) => [path.map(String).join("."), message].filter(Boolean).join(": "))
      .join("; "),
  );
}

function codeOf(error: Error): string | number | undefined {
  if (!("code" in error)) return undefined;
  return typeof error.code === "number" ? error.code : plainWord(error.code);
}

/** Names and codes of external errors are shown only if they are words. */
function plainWord(value: unknown): string | undefined {
  if (typeof value !== "string" || !/^[\w.-]{1,64}$/.test(value)) return undefined;
  return scrubText(value) === value ? value : undefined;
}

const FRAME = /^\s+at .*(?::\d+:\d+\)?|<anonymous>\)?|\(native\))$/;

/** Returns the frames of a stack. It begins with the message, which may contain lines that resemble frames. */
function framesOf({ stack = "", message }: Error): readonly string[] {
  const at = stack.indexOf(message);
  const frames = at < 0 ? stack : stack.slice(at + message.length);
  return frames.split("\n").filter((line) => FRAME.test(line));
}
/** Maximum length of a message: longer ones carry data rather than a reason. */
const MAX_CHARACTERS = 300;
/** Bounds the work on a message of any size. A cut word may be half a secret, so it is dropped with the rest. */
const MAX_SCRUBBED = 2_000;
const MAX_QUOTED = 40;
/** Length from which a name must consist of longer words to pass. */
const LONG_KEY = 32;

const SECRET = "[secret]";

/**
 * Returns the first line of an external text with everything replaced that may be a credential or a person's data: passwords and
 * queries of URLs, named secrets, tokens, keys, e-mail addresses and long quotations. It errs towards replacing too much.
 */
export function scrubText(text: string): string {
  const scrubbed = RULES.reduce((line, rule) => rule(line), firstLine(text));
  return scrubbed.length <= MAX_CHARACTERS ? scrubbed : `${scrubbed.slice(0, MAX_CHARACTERS - 1)}…`;
}

function firstLine(text: string): string {
  const start = text.slice(0, MAX_SCRUBBED).trimStart();
  const [line = ""] = start.split(LINE_BREAK, 1);
  const isCut = line.length === start.length && text.length > MAX_SCRUBBED;
  return (isCut ? line.replace(/\S*$/, "") : line).replace(CONTROL, " ").trimEnd();
}

const LINE_BREAK = /[\r\n\u2028\u2029]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they would let a message forge or hide what a terminal shows.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

type Rule = (line: string) => string;

const SECRET_NAME =
  "[\\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|credential|signature|authorization|(?:api|access|private|virtual|auth|account)[-_]?key)[\\w.-]*";
const VALUE = `"[^"]*"?|'[^']*'?|[^\\s&;,"']+`;

/** The rules in order: one must not cut a secret so that a later one no longer recognizes it. */
const RULES: readonly Rule[] = [
  urls,
  replacing(/\?[\w.~%+[\]-]+=[^\s"'<>]*/g, "?[query]"),
  replacing(
    /\b(Bearer|Basic)\s+(?!\[|(?:token|auth\w*|scheme|header|realm|is|was)\b)[^\s"',;]+/gi,
    `$1 ${SECRET}`,
  ),
  replacing(new RegExp(`((?<![\\w.-])${SECRET_NAME}["']?\\s*=\\s*)(?!\\[)(?:${VALUE})`, "gi"), `$1${SECRET}`),
  // With a colon only what can't be a sentence: "Unexpected token: }" stays.
  replacing(
    /((?:passw(?:or)?d|passphrase|pwd)["']?\s*:\s*)(?!\[)(?:"[^"]*"?|'[^']*'?|[^\s&;,"']+)/gi,
    `$1${SECRET}`,
  ),
  replacing(
    new RegExp(`((?<![\\w.-])${SECRET_NAME}["']?\\s*:\\s*)(?:"[^"]*"?|'[^']*'?)`, "gi"),
    `$1${SECRET}`,
  ),
  replacing(/(?<![\w+/-])eyJ[\w-]{8,}(?:\.[\w-]*)*/g, SECRET),
  // A shorter word can't be distinguished from a name.
  (line) => line.replace(/[A-Za-z0-9+/_-]{20,}={0,2}/g, (run) => (isName(run) ? run : SECRET)),
  replacing(/\b(?:sk|pk|rk)[-_][\w-]{4,}/g, SECRET),
  replacing(/\b(?:gh[opusr]|github_pat|glpat|xox[a-z]|lsv2|hf|npm|whsec)[-_][\w-]{8,}/g, SECRET),
  replacing(/\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[\w-]{20,}/g, SECRET),
  replacing(
    /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}/gu,
    "[e-mail]",
  ),
  quotations,
];

/** Leaves scheme, host and path of a URL. A password may hold any sign but a blank, also @ and /: it ends at the last @. */
function urls(line: string): string {
  return line.replace(
    /(?<![a-z0-9+.-])([a-z][a-z0-9+.-]*:\/\/)([^\s"<>]+)/gi,
    (_, scheme: string, rest: string) => {
      const at = rest.lastIndexOf("@");
      const [authority = ""] = rest.slice(0, Math.max(at, 0)).split(/[/?#]/, 1);
      const hasUser = at >= 0 && (authority.length === at || authority.includes(":"));
      const address = hasUser ? `${SECRET}@${rest.slice(at + 1)}` : rest;
      return `${scheme}${address.replace(/[?#][^']*/, "?[query]")}`;
    },
  );
}

function replacing(pattern: RegExp, replacement: string): Rule {
  return (line) => line.replace(pattern, replacement);
}

/** Replaces long quotations. One without an end on its line extends to the line's end; an apostrophe in a word quotes nothing. */
function quotations(line: string): string {
  return line.replace(
    /(?<![\p{L}\p{N}])(["'`“«])(.*?)(?:(["'`”»])(?![\p{L}\p{N}])|$)/gu,
    (quoted, open: string, inner: string, close: string | undefined) =>
      inner.length > MAX_QUOTED ? `${open}[${inner.length} characters]${close ?? ""}` : quoted,
  );
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a long run of letters and digits is a path or an identifier made of words, and not a key. */
function isName(run: string): boolean {
  if (UUID.test(run)) return true;
  const wordLength = run.length < LONG_KEY ? 3 : 4;
  return run.split(/[/+_=-]+/).every((part) => part.length <= 3 || isMadeOfWords(part, wordLength));
}

/** Words, then perhaps a number. Random letters change between cases too often, and hold digits in between. */
function isMadeOfWords(part: string, averageLength: number): boolean {
  const [, letters = ""] = /^([A-Za-z]*)\d{0,14}$/.exec(part) ?? [];
  if (letters === "") return /^\d{1,14}$/.test(part);
  const words = letters.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? [];
  return words.every(isWord) && letters.length >= words.length * averageLength;
}

/** Capitals alone are an abbreviation, and short. No word holds the same letter three times in a row. */
function isWord(word: string): boolean {
  const longest = /[a-z]/.test(word) ? 24 : 10;
  return word.length <= longest && !/(.)\1\1/i.test(word);
}
