import type { Json } from "@throughline/ai-core";
import { isJsonObject } from "@throughline/coerce";
import type { OpenToolCall, ThreadProjection } from "./thread-fold.js";

/** The custom event that maps arguments of a tool to keys of the state. Follows the start of the call directly. */
export const PREDICT_STATE = "PredictState";

/** Stores each prediction with the newest open call of its tool, for a subscriber that connects while the call streams. */
export function withPredictions(projection: ThreadProjection, value: Json): ThreadProjection {
  const announced = Array.isArray(value) ? value.filter(isJsonObject) : [];
  const open = projection.openMessages.flatMap(({ tool_calls }) =>
    tool_calls.filter(({ closed }) => !closed),
  );
  const newest = new Map(open.map((call) => [call.name, call]));
  const predicted = (call: OpenToolCall): OpenToolCall => {
    const predictions = announced.filter(({ tool }) => tool === call.name);
    return newest.get(call.name) === call && predictions.length > 0 ? { ...call, predictions } : call;
  };
  return {
    ...projection,
    openMessages: projection.openMessages.map((message) => ({
      ...message,
      tool_calls: message.tool_calls.map(predicted),
    })),
  };
}
