import { isConversation, type ProjectedMessage } from "./thread-fold.js";

/** The most side messages of earlier runs: messages of subagents, and thoughts without a message. */
const MAX_SIDE_MESSAGES = 400;
const MAX_SIDE_CHARACTERS = 1_000_000;

/**
 * Returns the messages that a new run begins with. Side messages are retained within a bound: beyond it the older half is
 * dropped at once, so that this happens rarely. O(messages).
 */
export function trimSideMessages(messages: readonly ProjectedMessage[]): readonly ProjectedMessage[] {
  const side = messages.filter((message) => !isConversation(message));
  const characters = side.reduce((sum, message) => sum + sizeOf(message), 0);
  if (side.length <= MAX_SIDE_MESSAGES && characters <= MAX_SIDE_CHARACTERS) return messages;
  const retained = new Set<ProjectedMessage>();
  let charactersLeft = MAX_SIDE_CHARACTERS / 2;
  for (const message of side.slice(-MAX_SIDE_MESSAGES / 2).reverse()) {
    charactersLeft -= sizeOf(message);
    if (charactersLeft < 0) break;
    retained.add(message);
  }
  const isRetained = (message: ProjectedMessage) => isConversation(message) || retained.has(message);
  const marks = new Set([lastThought(messages, isRetained, false), lastThought(messages, isRetained, true)]);
  return messages.flatMap((message) => {
    if (isRetained(message)) return [message];
    return marks.has(message) ? [{ ...message, content: "", reasoning: "", bare: true as const }] : [];
  });
}

/**
 * Finds the thought to retain, emptied, where none would be left of the subagents or of the conversation. Stock clients
 * replace their thoughts by those of a message list only if the list holds one.
 */
function lastThought(
  messages: readonly ProjectedMessage[],
  isRetained: (message: ProjectedMessage) => boolean,
  isNested: boolean,
): ProjectedMessage | undefined {
  const thoughts = messages.filter(
    ({ reasoning, subagent_id }) => reasoning !== undefined && (subagent_id !== undefined) === isNested,
  );
  return thoughts.some(isRetained) ? undefined : thoughts.at(-1);
}

function sizeOf({ content, reasoning = "", tool_calls = [] }: ProjectedMessage): number {
  const contentLength = typeof content === "string" ? content.length : JSON.stringify(content).length;
  return tool_calls.reduce((sum, { args }) => sum + args.length, contentLength + reasoning.length);
}
