import {
  currentMessages,
  messageById,
  type ThreadMessage,
  type ThreadSnapshot,
} from "@throughline/agent-client";
import { useCallback, useSyncExternalStore } from "react";
import { messageListeners } from "./keyed-store.js";
import { useHandleFor } from "./providers.js";
import { shallowEqual } from "./use-selector.js";
import { useThreadFor } from "./use-thread.js";

/** The ids of all messages, in order. The same array while text streams: a list renders only when a message is added or removed. */
export function useMessageIds(): readonly string[] {
  return useThreadFor("useMessageIds()", idsOf, shallowEqual);
}

/** The current version of one message. Renders only when that message changes. */
export function useMessage(id: string): ThreadMessage | undefined {
  const handle = useHandleFor("useMessage()");
  const subscribe = useCallback(
    (listener: () => void) => messageListeners(handle).subscribe(id, listener),
    [handle, id],
  );
  const read = useCallback(() => messageById(handle.getSnapshot().view, id), [handle, id]);
  return useSyncExternalStore(subscribe, read, noMessage);
}

/** All current messages. Renders with every frame of streaming text: for long threads, use `useMessageIds` and `useMessage`. */
export function useMessages(): readonly ThreadMessage[] {
  return useThreadFor("useMessages()", messagesOf, shallowEqual);
}

/** Cached by list, so that a frame of streaming text, which does not change the list, costs nothing for a list of any length. */
const idsByList = new WeakMap<readonly ThreadMessage[], readonly string[]>();

function idsOf({ view: { messages } }: ThreadSnapshot): readonly string[] {
  const known = idsByList.get(messages);
  if (known) return known;
  const ids = messages.map(({ id }) => id);
  idsByList.set(messages, ids);
  return ids;
}

function messagesOf({ view }: ThreadSnapshot): readonly ThreadMessage[] {
  return currentMessages(view);
}

const noMessage = () => undefined;
