import type { QueuedRun, SubmittedCommand, ThreadHandle, ThreadSnapshot } from "@throughline/agent-client";
import { useMemo } from "react";
import { useHandleFor } from "./providers.js";
import { useThreadFor } from "./use-thread.js";

/** Runs that wait until the thread is free, and the actions on them. */
export interface Queue {
  /** In the order in which they will be sent. Their messages show already, as `local: "sending"`. */
  readonly queue: readonly QueuedRun[];
  /** Sends a message now, or once the queue reaches it. */
  add(content: Parameters<ThreadHandle["send"]>[0]): SubmittedCommand;
  /** Discards one with its messages: by its id, or that of a message in it. */
  discard(id: string): void;
  clear(): void;
}

export function useQueue(): Queue {
  const handle = useHandleFor("useQueue()");
  const queue = useThreadFor("useQueue()", queueOf);
  return useMemo(
    () => ({
      queue,
      add: (content) => handle.send(content, { kind: "queue" }),
      discard: handle.discard,
      clear() {
        for (const { id } of queue) handle.discard(id);
      },
    }),
    [handle, queue],
  );
}

const queueOf = ({ pending }: ThreadSnapshot) => pending.queue;
