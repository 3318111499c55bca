import type { Turn } from "./turns";

/** URL fragment of a turn. */
export function turnAnchor(key: string): string {
  return `${TURN}${encodeURIComponent(key)}`;
}

/** URL fragment of a message, for links from pages that do not know its turn. */
export function messageAnchor(messageId: string): string {
  return `${MESSAGE}${encodeURIComponent(messageId)}`;
}

const TURN = "turn-";
const MESSAGE = "message-";

/** The anchor of the turn that a URL fragment names, or that contains the message it names. */
export function linkedTurn(
  anchor: string,
  turns: readonly Pick<Turn, "key" | "userId" | "messageIds">[],
): string | undefined {
  if (anchor.startsWith(TURN)) return anchor;
  if (!anchor.startsWith(MESSAGE)) return undefined;
  const isLinked = (id: string | undefined) => id !== undefined && messageAnchor(id) === anchor;
  const turn = turns.find(({ userId, messageIds }) => isLinked(userId) || messageIds.some(isLinked));
  return turn && turnAnchor(turn.key);
}
/** Id of the element at a tool call that receives the decision about it. */
export function approvalAnchor(toolCallId: string): string {
  return `gate-${toolCallId}`;
}
