import type { Envelope, Message } from "@throughline/ai-core";
import { expect } from "vitest";

const UNTIL_ITS_QUESTION = [
  'assistant "paint is on the door"',
  'assistant "cut the frame"',
  'assistant "glued the frame"',
  'assistant ""',
  'tool "forged {\\"piece\\":\\"nail\\"}"',
  'tool "forged {\\"piece\\":\\"hinge\\"}"',
  'assistant "nail and hinge are forged"',
  'assistant "rubbed it"',
  'assistant "it shines"',
];
const AFTER_ITS_ANSWER = ['assistant "the handle is on"', 'assistant "the door hangs and closes"'];

export interface TakenUp {
  /** The thread's log, whole. */
  readonly log: readonly Envelope[];
  readonly checkpoint: readonly Message[];
  /** Ids of tool calls, as often as they had their effect. */
  readonly marks: readonly string[];
  /** Whether the workshop was answered, and came to its end. */
  readonly isAnswered: boolean;
}

/** How many messages an attempt that was killed had shown, and what became of them. */
export interface Fate {
  readonly kept: number;
  readonly retracted: number;
}

/**
 * R27 on a thread of the workshop in which a run was taken up: everything it says is in the checkpoint once; what had been
 * shown and was committed stayed, untold again; what was not was taken back; every run ended once; every tool call that the
 * conversation holds had its effect under its own id.
 */
export function expectTakeover({ log, checkpoint, marks, isAnswered }: TakenUp): Fate {
  const said = isAnswered ? [...UNTIL_ITS_QUESTION, ...AFTER_ITS_ANSWER] : UNTIL_ITS_QUESTION;
  expect(textsOf(checkpoint.filter(({ role }) => role !== "user"))).toEqual([...said].sort());
  expect(checkpoint.filter(({ role }) => role === "user")).toHaveLength(1);

  const runs = [...new Set(log.map(({ run_id }) => run_id))];
  const ends = log.filter(({ type }) => type === "run_end").map(({ run_id }) => run_id);
  expect(ends).toEqual(runs);

  const taken = log.findIndex(({ attempt }) => attempt > 0);
  const before = shownIn(taken < 0 ? log : log.slice(0, taken));
  const again = new Set(taken < 0 ? [] : shownIn(log.slice(taken)));
  const retracted = new Set(
    log.flatMap(({ type, payload }) => (type === "retract" ? payload.message_ids : [])),
  );
  const held = new Set(checkpoint.map(({ id }) => id));
  const fates = before.map((id) => {
    // Results of tools keep their ids: one that was taken back is shown anew under the same.
    const isKept = held.has(id) && !again.has(id);
    return { id, isRetracted: retracted.has(id), isKept };
  });
  expect(fates.filter(({ isRetracted, isKept }) => isRetracted === isKept)).toEqual([]);

  const calls = checkpoint.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  expect(calls).toHaveLength(2);
  expect(marks).toEqual(expect.arrayContaining(calls));
  const kept = fates.filter(({ isKept }) => isKept).length;
  return { kept, retracted: fates.length - kept };
}

function textsOf(messages: readonly Message[]): readonly string[] {
  return messages.map(({ role, content }) => `${role} ${JSON.stringify(content)}`).sort();
}

function shownIn(log: readonly Envelope[]): readonly string[] {
  return log.flatMap(({ type, payload }) => {
    if (type === "llm_start") return [payload.message_id];
    return type === "tool_end" && payload.kind === "tool" && payload.message_id ? [payload.message_id] : [];
  });
}
