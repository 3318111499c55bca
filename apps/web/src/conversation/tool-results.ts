import type { MessageView } from "@throughline/agent-client";

const byList = new WeakMap<readonly MessageView[], ReadonlyMap<string, MessageView>>();

/** What a tool answered. One pass per list, whoever asks: a list stays the same while text streams. */
export function resultOf(messages: readonly MessageView[], toolCallId: string): MessageView | undefined {
  let results = byList.get(messages);
  if (!results) {
    results = new Map(
      messages.flatMap((message) =>
        message.toolCallId === undefined ? [] : [[message.toolCallId, message]],
      ),
    );
    byList.set(messages, results);
  }
  return results.get(toolCallId);
}
