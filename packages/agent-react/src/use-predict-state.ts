import type { ThreadSnapshot, ThreadView } from "@throughline/agent-client";
import { useCallback } from "react";
import { predictedState } from "./predicted-state.js";
import type { IsEqual } from "./use-selected.js";
import { useThreadFor } from "./use-thread.js";

/**
 * A part of the agent's state, with what the arguments of a call that streams will make of it (`predict_state`). What the agent
 * itself puts under the key takes the prediction's place, and so does the end of the run.
 */
export function usePredictState<T>(selector: (state: ThreadView["state"]) => T, isEqual?: IsEqual<T>): T {
  const select = useCallback(({ view }: ThreadSnapshot) => selector(predictedState(view)), [selector]);
  return useThreadFor("usePredictState()", select, isEqual);
}
