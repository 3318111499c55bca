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

/** The state, with what calls under way will make of it. Computed once per view, however many ask. */
function predictedState(view: ThreadView): JsonObject {
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

/**
 * A part of the agent's state, with what the arguments of a call that streams will make of it (`predict_state`). What the agent
 * itself puts under the key takes the prediction's place, and so does the end of the run.
 */
export function usePredictState<T>(selector: (state: ThreadView["state"]) => T, isEqual?: IsEqual<T>): T {
  const select = useCallback(({ view }: ThreadSnapshot) => selector(predictedState(view)), [selector]);
  return useThreadFor("usePredictState()", select, isEqual);
}

/**
 * JSON text as far as it has come: what is open is closed, and what can't be read yet is left out. `undefined` while nothing can
 * be read. O(length of the text).
 */
export function readPartialJson(text: string): Json | undefined {
  const whole = parsed(text);
  if (whole !== undefined) return whole;
  const closers: string[] = [];
  /** The longest beginning that is whole once it is closed. */
  let safe = "";
  let isKey = false;
  let isText = false;
  /** Where the last escape of the text that is open begins. */
  let escapeAt = -1;

  function keep(length: number): void {
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
        if (!isKey) keep(at + 1);
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
        keep(at + 1);
        break;
      case "}":
      case "]":
        closers.shift();
        keep(at + 1);
        break;
      case ",":
        keep(at);
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

/** An escape that has not come whole is left out. */
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
