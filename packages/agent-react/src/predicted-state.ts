import {
  messageById,
  type StatePrediction,
  type ThreadSnapshot,
  type ThreadView,
} from "@throughline/agent-client";
import type { Json, JsonObject } from "@throughline/ai-core";
import { useCallback } from "react";
import type { IsEqual } from "./use-selector.js";
import { useThreadFor } from "./use-thread.js";

const byView = new WeakMap<ThreadView, JsonObject>();

/** The state, with the changes predicted of calls under way. Computed once per view, for any number of readers. */
function predictedState(view: ThreadView): JsonObject {
  if (view.predictions.length === 0) return view.state;
  const known = byView.get(view);
  if (known) return known;
  const values = view.predictions.flatMap((prediction): [string, Json][] => {
    const value = predictedValue(view, prediction);
    return value === undefined ? [] : [[prediction.stateKey, value]];
  });
  const predicted = { ...view.state, ...Object.fromEntries(values) };
  byView.set(view, predicted);
  return predicted;
}

/** The predicted value. `undefined`: nothing of it was received yet, or the agent has written the key itself. */
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

/** Compares by value: a state that is sent again has other objects with equal content. */
function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/**
 * A part of the agent's state, with the change predicted of a streaming call's arguments (`predict_state`). A value that the agent
 * itself writes under the key replaces the prediction, and the end of the run removes it.
 */
export function usePredictState<T>(selector: (state: ThreadView["state"]) => T, isEqual?: IsEqual<T>): T {
  const select = useCallback(({ view }: ThreadSnapshot) => selector(predictedState(view)), [selector]);
  return useThreadFor("usePredictState()", select, isEqual);
}

/**
 * Parses incomplete JSON text: open values are closed, and parts that can't be read yet are omitted. `undefined` while no part can
 * be read. O(length of the text).
 */
export function readPartialJson(text: string): Json | undefined {
  const whole = parsed(text);
  if (whole !== undefined) return whole;
  const closers: string[] = [];
  /** The longest prefix that is complete once it is closed. */
  let safe = "";
  let isKey = false;
  let isText = false;
  /** The start of the last escape of the open string. */
  let escapeAt = -1;

  function markSafe(length: number): void {
    safe = text.slice(0, length) + closers.join("");
  }

  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (isText) {
      if (char === "\\") {
        escapeAt = at;
        at += 1;
      } else if (char === '"') {
        isText = false;
        if (!isKey) markSafe(at + 1);
      }
      continue;
    }
    switch (char) {
      case '"':
        isText = true;
        escapeAt = -1;
        break;
      case "{":
      case "[":
        closers.unshift(char === "{" ? "}" : "]");
        isKey = char === "{";
        markSafe(at + 1);
        break;
      case "}":
      case "]":
        closers.shift();
        markSafe(at + 1);
        break;
      case ",":
        markSafe(at);
        isKey = closers[0] === "}";
        break;
      case ":":
        isKey = false;
        break;
    }
  }
  const rest = isText ? `${text.slice(0, cutEscape(text, escapeAt))}"` : text;
  const open = isText && isKey ? undefined : parsed(rest + closers.join(""));
  return open ?? parsed(safe);
}

/** Omits an incomplete escape at the end of the text. */
function cutEscape(text: string, escapeAt: number): number {
  const length = text[escapeAt + 1] === "u" ? 6 : 2;
  return escapeAt >= 0 && escapeAt + length > text.length ? escapeAt : text.length;
}

function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
