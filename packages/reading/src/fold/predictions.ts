import type { Json } from "@throughline/ai-core";
import { isJsonObject } from "@throughline/coerce";
import type { OpenToolCall, ThreadFold } from "./thread-fold.js";

/** Says which arguments of which tool will be which keys of the state. Comes right behind the beginning of the call. */
export const PREDICT_STATE = "PredictState";

/** Each prediction is kept with the newest open call of its tool, for a subscriber that comes while that is written. */
export function keepPredictions(fold: ThreadFold, value: Json): ThreadFold {
  const told = Array.isArray(value) ? value.filter(isJsonObject) : [];
  const open = fold.openMessages.flatMap(({ tool_calls }) => tool_calls.filter(({ closed }) => !closed));
  const newest = new Map(open.map((call) => [call.name, call]));
  const predicted = (call: OpenToolCall): OpenToolCall => {
    const predictions = told.filter(({ tool }) => tool === call.name);
    return newest.get(call.name) === call && predictions.length > 0 ? { ...call, predictions } : call;
  };
  return {
    ...fold,
    openMessages: fold.openMessages.map((message) => ({
      ...message,
      tool_calls: message.tool_calls.map(predicted),
    })),
  };
}
