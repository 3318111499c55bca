import { type FoldMessage, isConversation } from "./thread-fold.js";

/** Of what was said beside the conversation in earlier runs: subagents' words, and thoughts that led to none. */
const MAX_BESIDE = 400;
const MAX_BESIDE_CHARACTERS = 1_000_000;

/**
 * The messages that a new run begins with. What was said beside the conversation stays, within a bound: beyond it the older
 * half is let go, so that this happens rarely. O(messages).
 */
export function keepBeside(messages: readonly FoldMessage[]): readonly FoldMessage[] {
  const beside = messages.filter((message) => !isConversation(message));
  const characters = beside.reduce((sum, message) => sum + sizeOf(message), 0);
  if (beside.length <= MAX_BESIDE && characters <= MAX_BESIDE_CHARACTERS) return messages;
  const kept = new Set<FoldMessage>();
  let room = MAX_BESIDE_CHARACTERS / 2;
  for (const message of beside.slice(-MAX_BESIDE / 2).reverse()) {
    room -= sizeOf(message);
    if (room < 0) break;
    kept.add(message);
  }
  const isKept = (message: FoldMessage) => isConversation(message) || kept.has(message);
  const marks = new Set([lastThought(messages, isKept, false), lastThought(messages, isKept, true)]);
  return messages.flatMap((message) => {
    if (isKept(message)) return [message];
    return marks.has(message) ? [{ ...message, content: "", reasoning: "", bare: true as const }] : [];
  });
}

/**
 * Stock clients take the thoughts they have from a list of messages only if one is in it. Where none would be left, of
 * subagents or of the conversation, the last one stays, emptied.
 */
function lastThought(
  messages: readonly FoldMessage[],
  isKept: (message: FoldMessage) => boolean,
  isNested: boolean,
): FoldMessage | undefined {
  const thoughts = messages.filter(
    ({ reasoning, subagent_id }) => reasoning !== undefined && (subagent_id !== undefined) === isNested,
  );
  return thoughts.some(isKept) ? undefined : thoughts.at(-1);
}

function sizeOf({ content, reasoning = "", tool_calls = [] }: FoldMessage): number {
  const said = typeof content === "string" ? content.length : JSON.stringify(content).length;
  return tool_calls.reduce((sum, { args }) => sum + args.length, said + reasoning.length);
}
