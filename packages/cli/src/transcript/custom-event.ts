import type { CallView, ThreadView } from "@throughline/agent-client";
import { callsOfRun, pathOf, pathOfMessage } from "./call-path.js";
import { describeProgress, describeValue, describeWarning, oneLine } from "./describe.js";
import { remember, tellLine } from "./tell.js";
import type { Transcript } from "./transcript.js";

/** `before`: the thread as it stood before the event. */
export function tellCustom(state: Transcript, before: ThreadView, name: string, value: unknown): Transcript {
  switch (name) {
    case "throughline.calls": {
      const run = callsOfRun(state.view).findLast(({ kind }) => kind === "run");
      if (run?.status !== "running") return state;
      if (!state.isLive) return tellEarlier(state, run);
      return tellRun(
        state,
        run,
        callsOfRun(before).findLast(({ kind }) => kind === "run"),
      );
    }
    case "throughline.tool_update": {
      const { toolCallId, text } = describeProgress(value);
      return tellLine(state, pathOf(state.view, toolCallId), ["dim", `• ${text}`]);
    }
    case "throughline.warning":
      return tellLine(state, [], ["dim", `! ${describeWarning(value)}`]);
    default: {
      // The question comes with the run's end.
      if (name === "on_interrupt" || name.startsWith("throughline.")) return state;
      const text = `• ${name}: ${oneLine(describeValue(value), 200)}`;
      return tellLine(state, pathOfMessage(state.view, undefined), ["dim", text]);
    }
  }
}

/** To who joins a long run: how much of it is not shown any more. */
function tellEarlier(state: Transcript, { callId, earlier = 0 }: CallView): Transcript {
  const key = `${callId}/earlier`;
  if (earlier === 0 || state.told.has(key)) return state;
  const words = earlier === 1 ? "… 1 earlier call" : `… ${earlier} earlier calls`;
  return tellLine(remember(state, key, words), [], ["dim", words]);
}

function tellRun(state: Transcript, run: CallView, before: CallView | undefined): Transcript {
  if (before) {
    const isTakenUp = run.attempt > before.attempt;
    return isTakenUp ? tellLine(state, [], ["mark", "↻ Its server was lost; the run goes on."]) : state;
  }
  const { kind, id } = run.startedBy ?? { kind: "client" };
  if (kind === "client") return state;
  return tellLine(state, [], ["mark", `◆ started by ${kind}${id === undefined ? "" : ` ${id}`}`]);
}
