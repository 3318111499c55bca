import type { Envelope } from "@throughline/ai-core";
import type { RunNote } from "../thread/run-note.js";
import type { CallNote, ServiceObserver } from "../thread/service-observer.js";

/** Tells an observer of model and tool calls as they begin and end in the log. */
export function noteCall(
  observer: Pick<ServiceObserver, "callStarted" | "callEnded">,
  run: RunNote,
  { type, call_id: callId }: Pick<Envelope, "type" | "call_id">,
): void {
  const kind: CallNote["kind"] = type === "llm_start" || type === "llm_end" ? "model" : "tool";
  switch (type) {
    case "llm_start":
    case "tool_start":
      observer.callStarted(run, { callId, kind });
      break;
    case "llm_end":
    case "tool_end":
      observer.callEnded(run, { callId, kind });
      break;
  }
}
