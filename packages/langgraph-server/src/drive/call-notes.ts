import type { Envelope } from "@throughline/ai-core";
import type { RunNote } from "../thread/run-note.js";
import type { CallNote, ServiceObserver } from "../thread/service-observer.js";

/** Reports an entry to an observer, and the step, model call or tool call that begins or ends with it. */
export function noteEntry(
  observer: Pick<
    ServiceObserver,
    "entryRecorded" | "stepStarted" | "stepEnded" | "callStarted" | "callEnded"
  >,
  run: RunNote,
  { type, call_id: callId }: Pick<Envelope, "type" | "call_id">,
): void {
  observer.entryRecorded(run);
  const kind: CallNote["kind"] = type === "llm_start" || type === "llm_end" ? "model" : "tool";
  switch (type) {
    case "step_start":
      observer.stepStarted(run, callId);
      break;
    case "step_end":
      observer.stepEnded(run, callId);
      break;
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
