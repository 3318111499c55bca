// A long run in the exact shapes of a short recorded one: the same events in the same order, with a longer answer and a
// larger state. Every line is built on its own, as if parsed from the wire, so that no object identity helps anyone.
import { readFileSync } from "node:fs";

/**
 * @typedef {object} Workload
 * @property {string} name
 * @property {readonly { t: number, event: string, data: unknown }[]} lines
 * @property {string} answer
 * @property {number} tokens model chunks that carry text or tool arguments
 * @property {number} payloadBytes what a watcher cannot do without: text, tool arguments and results, final state
 * @property {{ values: Record<string, unknown> }} final
 * @property {Record<string, unknown>} stateBefore what the thread's state was when the run began
 * @property {readonly Record<string, unknown>[]} input
 * @property {{ runId: string, threadId: string }} ids
 */

/**
 * @param {{ name: string, answerTokens: number, stateBytes: number, msPerToken: number, isStateKnown?: boolean }} shape
 * @returns {Workload}
 */
export function createWorkload({ name, answerTokens, stateBytes, msPerToken, isStateKnown = false }) {
  const recorded = readRecording("chat-parallel-tools");
  const words = readRecording("poet").flatMap(({ data }) => textOfStreamEvent(data) ?? []);
  const pieces = Array.from({ length: answerTokens }, (_, index) => words[index % words.length]);
  const lastValues = recorded.findLast(({ event }) => event === "values").data;
  const answer = lastValues.messages.at(-1);
  const shape = {
    order: lastValues.messages.map((message) => message.id),
    document: documentOf(stateBytes),
    oldText: answer.content,
    newText: pieces.join(""),
  };
  const lines = paced(lengthened(recorded, answer.id, pieces), msPerToken).map(({ t, event, data }) => ({
    t,
    event,
    data: JSON.parse(JSON.stringify(reshape(event, data, shape))),
  }));
  const values = lines.findLast(({ event }) => event === "values").data;
  const runId = recorded.find(({ event }) => event === "metadata").data.run_id;
  return {
    name,
    lines,
    answer: shape.newText,
    tokens: lines.filter(({ event, data }) => event === "events" && isToken(data)).length,
    payloadBytes: payloadOf(values),
    final: { values },
    stateBefore: isStateKnown ? structuredClone({ progress: 0, document: shape.document }) : {},
    input: values.messages.slice(0, 1),
    ids: { runId, threadId: "bench-thread" },
  };
}

function readRecording(name) {
  const text = readFileSync(new URL(`./recordings/${name}.jsonl`, import.meta.url), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

function textOfStreamEvent({ event, data }) {
  const text = event === "on_chat_model_stream" ? data.chunk.content : "";
  return text === "" ? undefined : text;
}

function isToken({ event, data }) {
  return (
    event === "on_chat_model_stream" && (data.chunk.content !== "" || data.chunk.tool_call_chunks.length > 0)
  );
}

/** Replaces the answer's token lines, which come as one `events` and one `messages` line per token, by as many as wanted. */
function lengthened(recorded, answerId, pieces) {
  const isAnswerToken = (line) => chunkOf(line)?.id === answerId && chunkOf(line).content !== "";
  const first = recorded.findIndex(isAnswerToken);
  const asEvent = recorded.find((line) => line.event === "events" && isAnswerToken(line));
  const asMessage = recorded.find((line) => line.event.startsWith("messages") && isAnswerToken(line));
  const tokens = pieces.flatMap((piece) => [withText(asEvent, piece), withText(asMessage, piece)]);
  const rest = recorded.slice(first).filter((line) => !isAnswerToken(line));
  return [...recorded.slice(0, first), ...tokens, ...rest];
}

function chunkOf({ event, data }) {
  if (event.startsWith("messages")) return data[0];
  return event === "events" && data.event === "on_chat_model_stream" ? data.data.chunk : undefined;
}

function withText(line, content) {
  if (line.event !== "events") return { ...line, data: [{ ...line.data[0], content }, line.data[1]] };
  const { chunk } = line.data.data;
  return { ...line, data: { ...line.data, data: { chunk: { ...chunk, content } } } };
}

/** Time passes with tokens only: everything between two tokens happens at once. */
function paced(lines, msPerToken) {
  let t = 0;
  return lines.map((line) => {
    if (line.event === "events" && isToken(line.data)) t += msPerToken;
    return { ...line, t };
  });
}

/** Puts the longer answer wherever the short one stood whole, and the larger state wherever LangGraph sends a state. */
function reshape(event, data, shape) {
  const mode = event.split("|")[0];
  const body = withNewText(data, shape);
  const whole = (state) => wholeState(state, shape);
  const part = (update) => ({ ...update, progress: progressOf(update.messages, shape) });
  switch (mode) {
    case "values":
      return whole(body);
    case "checkpoints":
      return { ...body, values: body.values.messages.length === 0 ? body.values : whole(body.values) };
    case "tasks":
      return "input" in body ? { ...body, input: whole(body.input) } : { ...body, result: part(body.result) };
    case "updates":
      return Object.fromEntries(Object.entries(body).map(([node, update]) => [node, part(update)]));
    case "events":
      return { ...body, data: eventData(body, whole, part) };
    default:
      return body;
  }
}

function eventData({ event, name, data }, whole, part) {
  if (event !== "on_chain_start" && event !== "on_chain_end") return data;
  const isRoot = name === "chat";
  const output =
    data.output?.messages === undefined ? data.output : isRoot ? whole(data.output) : part(data.output);
  return {
    ...data,
    ...(data.input === undefined || isRoot ? {} : { input: whole(data.input) }),
    ...(output === undefined ? {} : { output }),
  };
}

function wholeState(state, shape) {
  return { ...state, progress: progressOf(state.messages, shape), document: shape.document };
}

/** How many messages the thread holds after these: a small part of the state that changes with every step. */
function progressOf(messages, { order }) {
  return Math.max(...messages.map((message) => order.indexOf(message.id))) + 1;
}

function withNewText(value, shape) {
  if (value === shape.oldText) return shape.newText;
  if (Array.isArray(value)) return value.map((item) => withNewText(item, shape));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withNewText(item, shape)]));
}

function documentOf(bytes) {
  const rows = [];
  for (let size = 2; size < bytes; size += JSON.stringify(rows.at(-1)).length + 1) {
    rows.push({
      id: rows.length,
      title: `Finding ${rows.length}`,
      source: `https://example.org/${rows.length}`,
      score: 0.5,
    });
  }
  return rows;
}

function payloadOf({ messages, ...state }) {
  const texts = messages
    .slice(1)
    .flatMap(({ type, content, tool_call_chunks: calls = [] }) =>
      type === "ai" ? [content, ...calls.map((call) => call.args)] : [content],
    );
  return Buffer.byteLength(texts.join("") + JSON.stringify(state));
}
