"use client";

import type { CommandOutcome, ThreadName } from "@throughline/agent-client";
import { useAgentClient } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { useCallback } from "react";
import { useRefreshActivity } from "../agents/activity";
import { useDrafts } from "../composer/drafts";
import { recordAnswer } from "../conversation/steering/use-own-runs";

export interface Reply {
  /** By question; `undefined`: goes on past a pause. */
  readonly answers: Readonly<Record<string, Json>> | undefined;
  /** What was answered, as the conversation records it. */
  readonly words: string;
}

/** Answers a thread whose page is not open. Lists are asked for anew when its run begins and when it ends. */
export function useAnswerThread(): (thread: ThreadName, reply: Reply) => Promise<CommandOutcome> {
  const client = useAgentClient();
  const drafts = useDrafts();
  const refresh = useRefreshActivity();
  return useCallback(
    async (thread, { answers, words }) => {
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
      if ("serviceRunId" in outcome && outcome.serviceRunId !== undefined)
        recordAnswer(`${drafts.keyOf(thread)}:answered`, outcome.serviceRunId, words);
      refresh();
      return outcome;
    },
    [client, drafts, refresh],
  );
}
