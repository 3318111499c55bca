import { messageById, type ThreadHandle, type ThreadView } from "@throughline/agent-client";

export interface MessageListeners {
  /** Calls back when this message changed. */
  subscribe(messageId: string, listener: () => void): () => void;
}

const ofHandle = new WeakMap<ThreadHandle, MessageListeners>();

/**
 * Returns the listeners of a thread by message. If each were a listener of the thread, a token would cost O(messages on the page);
 * this way it costs O(open messages).
 */
export function messageListeners(handle: ThreadHandle): MessageListeners {
  const known = ofHandle.get(handle);
  if (known) return known;
  const created = createMessageListeners(handle);
  ofHandle.set(handle, created);
  return created;
}

function createMessageListeners(handle: ThreadHandle): MessageListeners {
  const listeners = new Map<string, Set<() => void>>();
  let leave: (() => void) | undefined;
  let notified = handle.getSnapshot().view;

  function notify(): void {
    const before = notified;
    notified = handle.getSnapshot().view;
    for (const id of changedIds(before, notified, listeners)) {
      for (const listener of [...(listeners.get(id) ?? [])]) listener();
    }
  }

  return {
    subscribe(messageId, listener) {
      if (!leave) {
        leave = handle.subscribe(notify);
        notified = handle.getSnapshot().view;
      }
      const own = () => listener();
      const those = listeners.get(messageId) ?? new Set();
      listeners.set(messageId, those.add(own));
      return () => {
        those.delete(own);
        if (those.size > 0 || listeners.get(messageId) !== those) return;
        listeners.delete(messageId);
        if (listeners.size > 0) return;
        leave?.();
        leave = undefined;
      };
    },
  };
}

/**
 * Returns the shown messages that changed. Streaming text leaves the list unchanged, and costs O(open messages); a changed list
 * costs one comparison per message.
 */
function changedIds(
  before: ThreadView,
  now: ThreadView,
  shown: ReadonlyMap<string, unknown>,
): readonly string[] {
  if (before.messages === now.messages && before.open === now.open) return [];
  const candidates =
    before.messages === now.messages
      ? new Set([...before.open, ...now.open].map(({ message }) => message.id))
      : shown.keys();
  return [...candidates].filter((id) => messageById(before, id) !== messageById(now, id));
}
