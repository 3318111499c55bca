import {
  type CallView,
  type ConnectionStatus,
  emptyThreadView,
  type PendingCommands,
  type RecordedFrame,
  type RunUsage,
  type ThreadHandle,
  type ThreadRun,
  type ThreadSnapshot,
  type ThreadView,
  type WireInterrupt,
} from "@throughline/agent-client";
import { useCallback, useSyncExternalStore } from "react";
import { useHandleFor } from "./providers.js";
import { type IsEqual, shallowEqual, useSelector } from "./use-selector.js";

/** The UI state on a server, which has no stream: a thread that is not open yet. */
const UNOPENED: ThreadSnapshot = {
  view: emptyThreadView,
  connection: { kind: "closed" },
  pending: { sync: false, running: false, preempting: false, queue: [] },
};
export const NO_FRAMES: readonly RecordedFrame[] = [];

/** Any part of the thread. A selector that makes a new object each time needs an `isEqual`: `shallowEqual` suits most. */
export function useThread<T>(selector: (snapshot: ThreadSnapshot) => T, isEqual?: IsEqual<T>): T {
  return useThreadFor("useThread()", selector, isEqual);
}

export function useThreadFor<T>(
  caller: string,
  selector: (snapshot: ThreadSnapshot) => T,
  isEqual?: IsEqual<T>,
): T {
  return useSelector(useHandleFor(caller), UNOPENED, selector, isEqual);
}

/** The active run, else the last one. */
export function useRun(): ThreadRun | null {
  return useThreadFor("useRun()", runOf);
}

/** The newest calls, in the order they began. */
export function useCalls(): readonly CallView[] {
  return useThreadFor("useCalls()", callsOf);
}

/** The open interrupts, which wait for a person's response. */
export function useInterrupts(): readonly WireInterrupt[] {
  return useInterruptsFor("useInterrupts()");
}

export function useInterruptsFor(caller: string): readonly WireInterrupt[] {
  return useThreadFor(caller, interruptsOf, shallowEqual);
}

export function useConnection(): ConnectionStatus {
  return useThreadFor("useConnection()", connectionOf);
}

/** The usage of the last run that ended. */
export function useUsage(): RunUsage | null {
  return useThreadFor("useUsage()", usageOf);
}

/** Commands that have no outcome yet. */
export function usePending(): PendingCommands {
  return useThreadFor("usePending()", pendingOf);
}

/** A part of the agent's own state. */
export function useThreadState<T>(selector: (state: ThreadView["state"]) => T, isEqual?: IsEqual<T>): T {
  const select = useCallback(({ view }: ThreadSnapshot) => selector(view.state), [selector]);
  return useThreadFor("useThreadState()", select, isEqual);
}

/** The newest received frames. Renders with every frame: for inspectors. */
export function useEventLog(): readonly RecordedFrame[] {
  const { events } = useHandleFor("useEventLog()");
  return useSyncExternalStore(events.subscribe, events.getSnapshot, noFrames);
}

const runOf = ({ view }: ThreadSnapshot) => view.run;
const callsOf = ({ view }: ThreadSnapshot) => view.calls;
const interruptsOf = ({ view }: ThreadSnapshot) => view.interrupts;
const usageOf = ({ view }: ThreadSnapshot) => view.usage;
const connectionOf = ({ connection }: ThreadSnapshot) => connection;
const pendingOf = ({ pending }: ThreadSnapshot) => pending;
const noFrames = () => NO_FRAMES;

/** The commands of a person. None rejects: each resolves with its outcome. */
export type ThreadCommands = Pick<
  ThreadHandle,
  | "send"
  | "run"
  | "command"
  | "sync"
  | "fire"
  | "stop"
  | "answer"
  | "answerAll"
  | "askAgain"
  | "resend"
  | "discard"
  | "reconnect"
>;

/** The commands of the thread: the same object for the same thread, so that it can be a dependency. Never renders by itself. */
export function useCommands(): ThreadCommands {
  return useHandleFor("useCommands()");
}
