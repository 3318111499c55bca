import { currentMessages, type ThreadHandle, type ThreadSnapshot } from "@throughline/agent-client";

/** Everything a page shows of a thread, to be compared with what another page shows. */
export function shownBy(thread: ThreadHandle): object {
  const { view } = thread.getSnapshot();
  const { state, calls, steps, interrupts, run, open } = view;
  return {
    messages: currentMessages(view),
    state,
    calls,
    steps,
    interrupts,
    open: open.length,
    run: run && { runId: run.runId, serviceRunId: run.serviceRunId, status: run.status, error: run.error },
  };
}

/** Resolves once the thread is shown like this. */
export function until(
  thread: ThreadHandle,
  isSo: (snapshot: ThreadSnapshot) => boolean,
): Promise<ThreadSnapshot> {
  return new Promise((resolve) => {
    const leave = thread.subscribe(look);
    look();
    function look(): void {
      const snapshot = thread.getSnapshot();
      if (!isSo(snapshot)) return;
      leave();
      resolve(snapshot);
    }
  });
}

/** Text that streams right now. */
export function streamedLength({ view }: ThreadSnapshot): number {
  return view.open.reduce((sum, { message }) => sum + String(message.content).length, 0);
}

export const isOver = ({ view, connection }: ThreadSnapshot): boolean =>
  view.run !== null && view.run.status !== "running" && connection.kind !== "connecting";
