import { emptyView, type ThreadView } from "@throughline/agent-client";
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

/** A thread as one terminal has shown it. */
export interface Transcript {
  readonly options: TranscriptOptions;
  readonly lines: Lines;
  /** The thread as it stands. */
  readonly view: ThreadView;
  /** Messages and tool calls that were shown, by id. */
  readonly told: ReadonlyMap<string, Told>;
  /** What is being said, by message id; apart from `told`, so that a token does not cost what the history weighs. */
  readonly saying: ReadonlyMap<string, string>;
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
    view: emptyView,
    told: new Map(),
    saying: new Map(),
    runId: undefined,
    isOpen: false,
    isLive: false,
    questions: [],
    ending: undefined,
  };
}

/** The graph paused where it asks nothing: at a breakpoint that it was compiled with. */
export function isPaused({ ending, isOpen, questions }: Transcript): boolean {
  return !isOpen && ending?.status === "interrupted" && questions.length === 0;
}
