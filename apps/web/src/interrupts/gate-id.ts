/** The element on a tool's line where the decision about its call stands. */
export function gateId(toolCallId: string): string {
  return `gate-${toolCallId}`;
}
