import { messageById, type ThreadHandle, type ThreadView } from "@throughline/agent-client";

export interface MessageListeners {
  /** Calls back when this message has changed. */
  subscribe(messageId: string, listener: () => void): () => void;
}

const ofHandle = new WeakMap<ThreadHandle, MessageListeners>();

/**
 * Who shows which message of a thread. With a listener of the thread for each, a token would cost as much as there are
 * messages on the page; so it costs as much as there are messages under way.
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
  let told = handle.getSnapshot().view;

  function tell(): void {
    const before = told;
    told = handle.getSnapshot().view;
    for (const id of changedIds(before, told, listeners)) {
      for (const listener of [...(listeners.get(id) ?? [])]) listener();
    }
  }

  return {
    subscribe(messageId, listener) {
      if (!leave) {
        leave = handle.subscribe(tell);
        told = handle.getSnapshot().view;
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
 * Those of the shown messages that read differently. Text that streams leaves the list as it is, and costs O(open messages);
 * a list that changed costs one comparison a message.
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
