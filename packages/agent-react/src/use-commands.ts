import type { ThreadHandle } from "@throughline/agent-client";
import { useHandleFor } from "./thread-provider.js";

/** What a person can do. None rejects: how it came out is the value. */
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

/** The same object for the same thread, so that it may stand in dependencies. Never renders by itself. */
export function useCommands(): ThreadCommands {
  return useHandleFor("useCommands()");
}
