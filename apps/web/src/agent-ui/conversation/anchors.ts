import type { Turn } from "./turns";

/** The part of an address that leads to a turn. */
export function turnAnchor(key: string): string {
  return `${TURN}${encodeURIComponent(key)}`;
}

/** The part of an address that leads to a message, for links from where its turn is not known. */
export function messageAnchor(messageId: string): string {
  return `${MESSAGE}${encodeURIComponent(messageId)}`;
}

const TURN = "turn-";
const MESSAGE = "message-";

/** The anchor of the turn that an address names, or that holds the message which it names. */
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
/** The element on a tool's line where the decision about its call stands. */
export function gateId(toolCallId: string): string {
  return `gate-${toolCallId}`;
}
