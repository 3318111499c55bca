import { messageById, type StatePrediction, type ThreadView } from "@throughline/agent-client";
import type { Json, JsonObject } from "@throughline/ai-core";
import { readPartialJson } from "./partial-json.js";

const byView = new WeakMap<ThreadView, JsonObject>();

/** The state, with what calls under way will make of it. Computed once per view, however many ask. */
export function predictedState(view: ThreadView): JsonObject {
  if (view.predictions.length === 0) return view.state;
  const known = byView.get(view);
  if (known) return known;
  const told = view.predictions.flatMap((prediction): [string, Json][] => {
    const value = predictedValue(view, prediction);
    return value === undefined ? [] : [[prediction.stateKey, value]];
  });
  const predicted = { ...view.state, ...Object.fromEntries(told) };
  byView.set(view, predicted);
  return predicted;
}

/** `undefined`: nothing of it has come yet, or the agent has put something there itself. */
function predictedValue(
  view: ThreadView,
  { stateKey, messageId, toolCallId, argument, base }: StatePrediction,
): Json | undefined {
  if (!isSame(view.state[stateKey], base)) return undefined;
  const call = messageById(view, messageId)?.toolCalls?.find(({ id }) => id === toolCallId);
  const args = call && readPartialJson(call.args);
  if (argument === undefined) return args;
  return typeof args === "object" && args !== null && !Array.isArray(args) ? args[argument] : undefined;
}

/** A state that is told anew holds other objects with the same in them. */
function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
