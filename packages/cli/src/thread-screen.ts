import type { StreamEvent } from "./client/read-events.js";
import type { Terminal } from "./terminal.js";
import { readFrame } from "./transcript/frame.js";
import { breakLine } from "./transcript/lines.js";
import { showNext } from "./transcript/show-next.js";
import { emptyTranscript, type Transcript, type TranscriptOptions } from "./transcript/transcript.js";

/** A thread on a terminal: frames in, lines out; or, as JSON, every event as it came. */
export interface ThreadScreen {
  readonly transcript: Transcript;
  connected(): void;
  /** `again`: the frame only says that this connection ends. */
  show(event: StreamEvent): "shown" | "again";
  /** A word from beside, on a line of its own. */
  note(text: string): void;
}

export function threadScreen(
  terminal: Terminal,
  { isJson, ...options }: TranscriptOptions & { readonly isJson: boolean },
): ThreadScreen {
  let transcript = emptyTranscript(options);
  return {
    get transcript() {
      return transcript;
    },
    connected() {
      [transcript] = showNext(transcript, { kind: "connected" });
    },
    show({ id, data }) {
      const frame = readFrame(data);
      // Without an id it is not of the log: a connection's last words, from a server that goes.
      if (frame?.type === "RUN_ERROR" && id === undefined) {
        const isBroken = frame.code === "internal" && transcript.isLive;
        if (frame.code === "shutting_down" || isBroken) return "again";
      }
      if (isJson) terminal.print(`${JSON.stringify(data)}\n`);
      if (!frame) return "shown";
      const [next, spans] = showNext(transcript, { kind: "frame", id, frame });
      transcript = next;
      if (!isJson && spans.length > 0) terminal.show(spans);
      return "shown";
    },
    note(text) {
      const [lines, spans] = breakLine(transcript.lines);
      transcript = { ...transcript, lines };
      if (!isJson && spans.length > 0) terminal.show(spans);
      terminal.note(text);
    },
  };
}
