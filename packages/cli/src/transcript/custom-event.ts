import { changeCalls, pathOf, pathOfMessage } from "./call-path.js";
import { describeProgress, describeValue, describeWarning, oneLine } from "./describe.js";
import { type FrameCall, readCalls } from "./frame.js";
import { remember, tellLine } from "./tell.js";
import type { Transcript } from "./transcript.js";

export function tellCustom(state: Transcript, name: string, value: unknown): Transcript {
  switch (name) {
    case "throughline.calls": {
      const told = readCalls(value);
      if (!told) return state;
      const next = { ...state, calls: changeCalls(state.calls, told) };
      const run = told.calls.findLast(({ kind }) => kind === "run");
      if (run?.status !== "running") return next;
      return state.isLive ? tellRun(next, run, state.calls.get(run.callId)) : tellEarlier(next, run);
    }
    case "throughline.tool_update": {
      const { toolCallId, text } = describeProgress(value);
      return tellLine(state, pathOf(state.calls, toolCallId), ["dim", `• ${text}`]);
    }
    case "throughline.warning":
      return tellLine(state, [], ["dim", `! ${describeWarning(value)}`]);
    default: {
      // The question comes with the run's end.
      if (name === "on_interrupt" || name.startsWith("throughline.")) return state;
      const text = `• ${name}: ${oneLine(describeValue(value), 200)}`;
      return tellLine(state, pathOfMessage(state.calls, undefined), ["dim", text]);
    }
  }
}

/** To who joins a long run: how much of it is not shown any more. */
function tellEarlier(state: Transcript, { callId, earlier = 0 }: FrameCall): Transcript {
  const key = `${callId}/earlier`;
  if (earlier === 0 || state.told.has(key)) return state;
  const words = earlier === 1 ? "… 1 earlier call" : `… ${earlier} earlier calls`;
  return tellLine(remember(state, key, words), [], ["dim", words]);
}

function tellRun(state: Transcript, run: FrameCall, before: FrameCall | undefined): Transcript {
  if (before) {
    const isTakenUp = run.attempt > before.attempt;
    return isTakenUp ? tellLine(state, [], ["mark", "↻ Its server was lost; the run goes on."]) : state;
  }
  const { kind, id } = run.startedBy ?? { kind: "client" };
  if (kind === "client") return state;
  return tellLine(state, [], ["mark", `◆ started by ${kind}${id === undefined ? "" : ` ${id}`}`]);
}
