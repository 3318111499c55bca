// Takes out of a recorded line what no reader of a stream looks at. Ids, namespaces, order and times stay as they were.
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

const NOISE = new Set([
  "invalid_tool_calls",
  "versions",
  "created_by",
  "assistant_id",
  "run_attempt",
  "langgraph_version",
  "langgraph_plan",
  "langgraph_host",
  "langgraph_api_url",
  "langgraph_triggers",
  "langgraph_request_id",
  "user-agent",
]);
/** Noise only beside a node's own coordinates: the run is known, and the path repeats the namespace. */
const NOISE_IN_TASK_METADATA = new Set(["thread_id", "graph_id", "langgraph_path", "checkpoint_ns"]);
const KEPT_LS = new Set(["ls_model_name", "ls_model_type", "ls_provider"]);
const DROPPED_WHEN_EMPTY = new Set([
  "additional_kwargs",
  "response_metadata",
  "input_token_details",
  "output_token_details",
  "metadata",
]);
const KEPT_RESPONSE_METADATA = new Set(["finish_reason", "model_name"]);
const WITHOUT_INPUT = new Set(["on_chain_end", "on_chat_model_start", "on_chat_model_end", "on_tool_end"]);

/** @param {{ t?: number, event?: string, data: unknown }} line */
export function compactLine({ t, event, data }) {
  return {
    ...(t === undefined ? {} : { t: Math.round(t) }),
    ...(event === undefined ? {} : { event }),
    data: compact(compactPayload(event?.split("|")[0], data)),
  };
}

/** Of what the modes repeat, one telling is enough: inputs are told by `values`, messages of a checkpoint too. */
export function compactPayload(mode, data) {
  if (data === null || typeof data !== "object") return data;
  switch (mode) {
    case "events":
      return compactStreamEvent(data);
    case "tasks": {
      const { input: _input, triggers: _triggers, ...task } = data;
      return task;
    }
    case "checkpoints": {
      if (data.values === undefined) return data;
      const { messages: _messages, ...values } = data.values;
      return { ...data, values };
    }
    default:
      return data;
  }
}

/** One streamEvents object: inputs repeat what earlier events put out, except that a start names its messages' ids. */
export function compactStreamEvent(event) {
  if (event?.data === undefined) return event;
  const { input, ...rest } = event.data;
  if (input === undefined || WITHOUT_INPUT.has(event.event)) return { ...event, data: rest };
  if (event.event !== "on_chain_start") return event;
  const isNode = event.tags?.some((tag) => tag.startsWith("graph:step:"));
  const { messages } = (isNode ? input : undefined) ?? {};
  return { ...event, data: messages === undefined ? rest : { ...rest, input: { messages } } };
}

/** @returns {unknown} */
export function compact(value) {
  if (typeof value === "string") return anonymous(value);
  if (Array.isArray(value)) return value.map(compact);
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).flatMap(([key, child]) => {
    if (NOISE.has(key) || (key.startsWith("ls_") && !KEPT_LS.has(key))) return [];
    if (isTaskMetadata(value) && NOISE_IN_TASK_METADATA.has(key)) return [];
    const smaller = compact(key === "response_metadata" ? pick(child, KEPT_RESPONSE_METADATA) : child);
    return DROPPED_WHEN_EMPTY.has(key) && isEmptyObject(smaller) ? [] : [[key, smaller]];
  });
  return Object.fromEntries(kept);
}

function isTaskMetadata(value) {
  return typeof value.langgraph_checkpoint_ns === "string";
}

/** Two frames of a stack are enough to prove that no stack gets out; the folder of the clone is left out. */
function anonymous(text) {
  const whole = text.replaceAll(ROOT, "/srv/throughline");
  if (!/\n {4}at /.test(whole)) return whole;
  let frames = 0;
  return whole
    .split("\n")
    .filter((line) => !line.startsWith("    at ") || frames++ < 2)
    .join("\n");
}

function pick(value, keys) {
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => keys.has(key)));
}

function isEmptyObject(value) {
  return (
    value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0
  );
}
