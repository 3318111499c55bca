import type { Json, JsonObject } from "@throughline/ai-core";
import type { StatePrediction, ThreadView } from "./thread-view.js";

/** `PredictState` comes right behind the beginning of the call it is about. */
export function takePredictions(view: ThreadView, value: Json): ThreadView {
  const told = (Array.isArray(value) ? value : []).flatMap((one) => predictionOf(view, one) ?? []);
  if (told.length === 0) return view;
  const keys = new Set(told.map(({ stateKey }) => stateKey));
  return {
    ...view,
    predictions: [...view.predictions.filter(({ stateKey }) => !keys.has(stateKey)), ...told],
  };
}

function predictionOf(view: ThreadView, value: Json): StatePrediction | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { state_key: stateKey, tool, tool_argument: argument }: JsonObject = value;
  if (typeof stateKey !== "string" || typeof tool !== "string") return undefined;
  for (const { message, openCalls } of view.open.toReversed()) {
    const call = message.toolCalls?.findLast(({ id, name }) => name === tool && openCalls.includes(id));
    if (!call) continue;
    return {
      stateKey,
      messageId: message.id,
      toolCallId: call.id,
      argument: typeof argument === "string" && argument !== "" ? argument : undefined,
      base: view.state[stateKey],
    };
  }
  return undefined;
}
