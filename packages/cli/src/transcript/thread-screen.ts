import type { AgUiFrame } from "@throughline/agent-client";
import type { Span, Terminal } from "../terminal/terminal.js";
import { breakLine, NO_LINES } from "./blocks.js";
import { createFrameSteps, printFrame, type Refusal, showQuestions, showRefusal } from "./reduce-frame.js";
import { emptyTranscript, type Transcript, type TranscriptOptions } from "./transcript.js";

/** Prints a thread on a terminal: frames in, lines out; or, as JSON, every event as it came. */
export interface ThreadScreen {
  readonly transcript: Transcript;
  show(frames: readonly AgUiFrame[]): void;
  /** Prints nothing until a run begins with this message. */
  muteUntil(messageId: string): void;
  unmute(): void;
  refuse(refusal: Refusal): void;
  /** Prints the interrupts that arrived while it was mute. */
  showQuestions(): void;
  /** Prints a note on a line of its own, on stderr. */
  note(text: string): void;
}

export function threadScreen(
  terminal: Terminal,
  { isJson, ...options }: TranscriptOptions & { readonly isJson: boolean },
): ThreadScreen {
  const steps = createFrameSteps();
  let transcript = emptyTranscript(options);
  let awaited: string | undefined;

  function apply([next, spans]: readonly [Transcript, readonly Span[]]): void {
    transcript = next;
    if (!isJson && awaited === undefined && spans.length > 0) terminal.show(spans);
  }

  return {
    get transcript() {
      return transcript;
    },
    show(frames) {
      for (const step of steps(frames)) {
        const { event } = step.frame;
        if (event.type === "RUN_STARTED" && event.input?.messages?.some(({ id }) => id === awaited))
          awaited = undefined;
        if (isJson && awaited === undefined) terminal.print(`${JSON.stringify(event)}\n`);
        apply(printFrame(transcript, step));
      }
    },
    muteUntil(messageId) {
      awaited = messageId;
    },
    unmute() {
      if (awaited === undefined) return;
      awaited = undefined;
      // A text that streams has no line on this terminal.
      transcript = { ...transcript, lines: NO_LINES };
    },
    refuse(refusal) {
      if (isJson) terminal.print(`${JSON.stringify({ type: "RUN_ERROR", ...refusal })}\n`);
      apply(showRefusal(transcript, refusal));
    },
    showQuestions() {
      apply(showQuestions(transcript));
    },
    note(text) {
      apply(breakLines(transcript));
      terminal.note(text);
    },
  };
}

function breakLines(transcript: Transcript): readonly [Transcript, readonly Span[]] {
  const [lines, spans] = breakLine(transcript.lines);
  return [{ ...transcript, lines }, spans];
}
