"use client";

import type { CommandOutcome, ThreadName } from "@throughline/agent-client";
import { useAgentClient } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { useCallback } from "react";
import { useRefreshActivity } from "../agents/activity";

/** By question; `undefined`: goes on past a pause. */
export type Reply = Readonly<Record<string, Json>> | undefined;

/** Answers a thread whose page is not open. Lists are asked for anew when its run begins and when it ends. */
export function useAnswerThread(): (thread: ThreadName, reply: Reply) => Promise<CommandOutcome> {
  const client = useAgentClient();
  const refresh = useRefreshActivity();
  return useCallback(
    async (thread, answers) => {
      const handle = client.thread(thread.agentId, thread.threadId, thread.visibility);
      let hasBegun = false;
      const unsubscribe = handle.subscribe(() => {
        if (hasBegun || handle.getSnapshot().view.run?.runId !== command.runId) return;
        hasBegun = true;
        refresh();
      });
      const command = answers ? handle.run({ answers }, { kind: "queue" }) : handle.askAgain();
      const outcome = await command;
      unsubscribe();
      refresh();
      return outcome;
    },
    [client, refresh],
  );
}
