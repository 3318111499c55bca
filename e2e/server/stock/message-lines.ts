/** Of a client or of a checkpoint. */
export interface AnyMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
  readonly toolCalls?: readonly { readonly id: string }[] | undefined;
  readonly tool_calls?: readonly { readonly id: string }[] | undefined;
}

/**
 * Each message with its text and its calls, so that a conversation can be compared with another. In any order: results of
 * parallel calls stand in the order in which they came. Thoughts are no part of a checkpoint.
 */
export function messageLines(messages: readonly AnyMessage[]): readonly string[] {
  return messages
    .filter(({ role }) => role !== "reasoning")
    .map(({ id, role, content, toolCalls, tool_calls }) => {
      const calls = (toolCalls ?? tool_calls ?? []).map((call) => ` calls ${call.id}`);
      return `${id} ${role}: ${JSON.stringify(content ?? "")}${calls.join("")}`;
    })
    .sort();
}
