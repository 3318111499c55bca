import type { AgUiEvent } from "./event.js";

/** The START events without an END among these events; a terminal event ends all. */
export function reopenItems(events: readonly AgUiEvent[]): AgUiEvent[] {
  let open = new Map<string, AgUiEvent>();
  for (const event of events) {
    switch (event.type) {
      case "RUN_STARTED": {
        const { input: _input, ...restarted } = event;
        open = new Map([["run", restarted]]);
        break;
      }
      case "RUN_FINISHED":
      case "RUN_ERROR":
        open = new Map();
        break;
      case "STEP_STARTED":
        open.set(`step ${event.stepName}`, event);
        break;
      case "STEP_FINISHED":
        open.delete(`step ${event.stepName}`);
        break;
      case "SUBAGENT_STARTED":
        open.set(`subagent ${event.subagentRunId}`, event);
        break;
      case "SUBAGENT_FINISHED":
      case "SUBAGENT_ERROR":
        open.delete(`subagent ${event.subagentRunId}`);
        break;
      case "TEXT_MESSAGE_START":
      case "REASONING_START":
      case "REASONING_MESSAGE_START":
        open.set(`${event.type} ${event.messageId}`, event);
        break;
      case "TEXT_MESSAGE_END":
      case "REASONING_END":
      case "REASONING_MESSAGE_END":
        open.delete(`${event.type.replace(/_END$/, "_START")} ${event.messageId}`);
        break;
      case "TOOL_CALL_START":
        open.set(`call ${event.toolCallId}`, event);
        break;
      case "TOOL_CALL_END":
        open.delete(`call ${event.toolCallId}`);
        break;
      default:
        break;
    }
  }
  return [...open.values()];
}
