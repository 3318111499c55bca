import {
  currentMessages,
  type MessageView,
  messageById,
  type ThreadSnapshot,
} from "@throughline/agent-client";
import { useCallback, useSyncExternalStore } from "react";
import { messageListeners } from "./keyed-store.js";
import { useHandleFor } from "./providers.js";
import { shallowEqual } from "./use-selector.js";
import { useThreadFor } from "./use-thread.js";

/** Which messages there are, in order. Stays the same while their text streams: a list renders only when one comes or goes. */
export function useMessageIds(): readonly string[] {
  return useThreadFor("useMessageIds()", idsOf, shallowEqual);
}

/** One message as it stands. Renders when that one changes, and with no other. */
export function useMessage(id: string): MessageView | undefined {
  const handle = useHandleFor("useMessage()");
  const subscribe = useCallback(
    (listener: () => void) => messageListeners(handle).subscribe(id, listener),
    [handle, id],
  );
  const read = useCallback(() => messageById(handle.getSnapshot().view, id), [handle, id]);
  return useSyncExternalStore(subscribe, read, noMessage);
}

/** All messages as they stand. Renders with every frame of streaming text: for long threads, `useMessageIds` and `useMessage`. */
export function useMessages(): readonly MessageView[] {
  return useThreadFor("useMessages()", messagesOf, shallowEqual);
}

/** By list, so that a frame of streaming text, which leaves the list alone, costs a list of any length nothing. */
const idsByList = new WeakMap<readonly MessageView[], readonly string[]>();

function idsOf({ view: { messages } }: ThreadSnapshot): readonly string[] {
  const known = idsByList.get(messages);
  if (known) return known;
  const ids = messages.map(({ id }) => id);
  idsByList.set(messages, ids);
  return ids;
}

function messagesOf({ view }: ThreadSnapshot): readonly MessageView[] {
  return currentMessages(view);
}

const noMessage = () => undefined;
