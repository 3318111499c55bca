"use client";

import type { CommandOutcome, ThreadName } from "@throughline/agent-client";
import { type OpenInterrupt, useAgentClient } from "@throughline/agent-react";
import type { Json } from "@throughline/ai-core";
import { readInterruptRequest } from "@throughline/questions";
import { useCallback } from "react";
import { approvalsOf } from "../agent-ui/interrupts/approval-rows";
import { isJsonObject } from "../agent-ui/primitives/is-json-object";
import { useRefreshActivity } from "../agents/activity";
import { rowKey, titleOf } from "../agents/thread-pages";
import type { WaitingInterrupt } from "../data/thread-lists";

/** A thread that waits for a person. */
export interface WaitingThread {
  readonly key: string;
  readonly name: ThreadName;
  /** Its last run. */
  readonly runId: string;
  readonly title: string;
  readonly askedAt: number;
  /** Empty: it is paused at a breakpoint and continues on request. */
  readonly questions: readonly OpenInterrupt[];
  /** Responses that approve all of its interrupts; `undefined` where one requests more than approval. */
  readonly approvals: Readonly<Record<string, Json>> | undefined;
}

/** Groups waiting interrupts by thread, in order of arrival: interrupts of one thread are responded to together. */
export function waitingThreads(waiting: readonly WaitingInterrupt[]): readonly WaitingThread[] {
  const byThread = new Map<string, WaitingInterrupt[]>();
  for (const question of waiting) {
    const key = `${question.agentId} ${rowKey(question)}`;
    byThread.set(key, [...(byThread.get(key) ?? []), question]);
  }
  return [...byThread].flatMap(([key, [first, ...others]]) => {
    if (!first) return [];
    const questions = [first, ...others].flatMap(({ interrupt }) =>
      interrupt ? [toOpenInterrupt(interrupt)] : [],
    );
    const { agentId, threadName, visibility, runId, askedAt } = first;
    return [
      {
        key,
        name: { agentId, threadId: threadName, visibility },
        runId,
        title: titleOf(first),
        askedAt,
        questions,
        approvals: questions.length > 0 ? approvalsOf(questions) : undefined,
      },
    ];
  });
}

function toOpenInterrupt({
  interrupt_id: id,
  value,
  response_schema,
}: NonNullable<WaitingInterrupt["interrupt"]>): OpenInterrupt {
  const expiry = isJsonObject(value) ? (value.expiresAt ?? value.expires_at) : undefined;
  const ends = typeof expiry === "string" ? Date.parse(expiry) : Number.NaN;
  return {
    id,
    question: readInterruptRequest(value, response_schema),
    expiresAt: Number.isNaN(ends) ? undefined : ends,
  };
}

/** Responses by interrupt id; `undefined`: continues after a breakpoint. */
export type Reply = Readonly<Record<string, Json>> | undefined;

/** Responds to a thread whose page is not open. Lists are refetched when its run begins and when it ends. */
export function useRespondToThread(): (thread: ThreadName, reply: Reply) => Promise<CommandOutcome> {
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
