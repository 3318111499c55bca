import type { Calls } from "./call-path.js";
import { type Lines, NO_LINES } from "./lines.js";
import type { Question } from "./question.js";

export interface TranscriptOptions {
  /** What people said, also by others. */
  readonly showsInput: boolean;
  /** How many messages of the past to show on arrival. */
  readonly history: number;
}

/** How the run that was shown last ended. */
export interface Ending {
  readonly status: "success" | "interrupted" | "cancelled" | "error";
  readonly code?: string;
}

interface Told {
  readonly text: string;
  readonly runId: string | undefined;
}

interface ToolCall {
  readonly name: string;
  readonly args: string;
  readonly messageId: string | undefined;
}

/** A thread as one terminal has shown it. */
export interface Transcript {
  readonly options: TranscriptOptions;
  readonly lines: Lines;
  readonly calls: Calls;
  /** Messages and tool calls that were shown, by id. */
  readonly told: ReadonlyMap<string, Told>;
  /** What is being said, by message id; apart from `told`, so that a token does not cost what the history weighs. */
  readonly saying: ReadonlyMap<string, string>;
  readonly toolCalls: ReadonlyMap<string, ToolCall>;
  readonly runId: string | undefined;
  readonly isOpen: boolean;
  /** A frame of the log came since the connection was made: until then the prelude tells how things stand. */
  readonly isLive: boolean;
  readonly questions: readonly Question[];
  readonly ending: Ending | undefined;
}

export function emptyTranscript(options: TranscriptOptions): Transcript {
  return {
    options,
    lines: NO_LINES,
    calls: new Map(),
    told: new Map(),
    saying: new Map(),
    toolCalls: new Map(),
    runId: undefined,
    isOpen: false,
    isLive: false,
    questions: [],
    ending: undefined,
  };
}
