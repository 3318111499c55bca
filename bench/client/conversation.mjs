// One conversation for every client: what was said before, and an answer that comes token by token.
import { isDeepStrictEqual } from "node:util";

const TOKENS = 1_000;
const SENTENCE = "The line holds, and whoever comes back later reads on where the others are. ";
const ROWS = 785;
const DELTAS = 200;

export const THREAD_ID = "bench-thread";
export const RUN_ID = "bench-run";
const ANSWER_ID = "answer";

/** @param {number} count how many messages came before, questions and answers in turn */
export function priorMessages(count) {
  return Array.from({ length: count }, (_, index) => ({
    id: `message-${index}`,
    role: index % 2 === 0 ? "user" : "assistant",
    content: SENTENCE.repeat(3),
  }));
}

const words = Array.from({ length: TOKENS }, (_, index) => ` word${index % 100}`);

const answerText = words.join("");

export const runStarted = { type: "RUN_STARTED", threadId: THREAD_ID, runId: RUN_ID };

export const answerStart = { type: "TEXT_MESSAGE_START", messageId: ANSWER_ID, role: "assistant" };

const tokenEvents = words.map((delta) => ({
  type: "TEXT_MESSAGE_CONTENT",
  messageId: ANSWER_ID,
  delta,
}));

export const endEvents = [
  { type: "TEXT_MESSAGE_END", messageId: ANSWER_ID },
  { type: "RUN_FINISHED", threadId: THREAD_ID, runId: RUN_ID },
];

/** Some 140 KB of JSON: a table, as an agent keeps one. */
function bigState() {
  return {
    step: 0,
    rows: Array.from({ length: ROWS }, (_, index) => ({
      id: `row-${index}`,
      title: SENTENCE,
      tags: ["open", "shared", "late"],
      owner: { name: `person ${index % 20}`, team: "line" },
    })),
  };
}

/** One field deep inside, and one at the top. */
const stateEvents = Array.from({ length: DELTAS }, (_, index) => ({
  type: "STATE_DELTA",
  delta: [
    { op: "replace", path: `/rows/${(index * 37) % ROWS}/owner/name`, value: `editor ${index}` },
    { op: "replace", path: "/step", value: index + 1 },
  ],
}));

export const HISTORIES = [0, 50, 200, 1_000];
export const BIG_STATE = "140 KB state";

/** What the history is called in a report. */
export function historyLabel(messages) {
  return `${messages.toLocaleString("en-US")} messages`;
}

/**
 * @typedef {{ messages: number, state: object, events: readonly object[] }} Workload the first event opens what is changed;
 *   what is measured comes behind it
 */

/** @type {Readonly<Record<string, Workload>>} */
export const workloads = {
  ...Object.fromEntries(
    HISTORIES.map((messages) => [historyLabel(messages), { messages, state: {}, events: tokenEvents }]),
  ),
  [BIG_STATE]: { messages: 0, state: bigState(), events: stateEvents },
};

/**
 * A client that shows less, or tells its subscriber less often, would be a fast one.
 *
 * @param {Workload} workload
 * @param {{ text: string, state: object, notified: number }} shown
 */
export function checkShown({ state, events }, shown) {
  const measured = events.length - 1;
  if (shown.notified !== measured)
    throw new Error(`The subscriber was told ${shown.notified} times of ${measured} events.`);
  const isRight =
    events === tokenEvents ? shown.text === answerText : isDeepStrictEqual(shown.state, changedState(state));
  if (!isRight) throw new Error("What is shown is not what was streamed.");
}

function changedState(state) {
  const expected = structuredClone(state);
  for (const { path, value } of stateEvents.flatMap(({ delta }) => delta)) {
    const keys = path.slice(1).split("/");
    const last = keys.pop();
    keys.reduce((at, key) => at[key], expected)[last] = value;
  }
  return expected;
}
