"use client";

import type { CallView, CommandOutcome, RunErrorView } from "@throughline/agent-client";
import { useCommands, useMessage, useThreadHandle } from "@throughline/agent-react";
import { type ReactNode, useCallback, useState } from "react";
import { useCaller } from "../../console/caller";
import { Button } from "../../design/button";
import { useShownRun } from "../../panel/shown-run";
import type { SettledThread } from "../settled/settled-thread";
import { useSettledThread } from "../settled/use-settled-thread";
import { outcomeWords } from "../steering/outcome-words";
import { useSteering } from "../steering/steering";
import styles from "./run-end.module.css";

interface RunEndProps {
  readonly run: CallView;
  readonly isLast: boolean;
  readonly userId: string | undefined;
  /** It had said something that is not part of the conversation. */
  readonly isCutShort: boolean;
}

/** How a run ended, where it did not simply end well, and the way on. */
export function RunEnd({ run, isLast, userId, isCutShort }: RunEndProps): ReactNode {
  const { runId } = run;
  const shownRun = useShownRun();
  const error = useSettledThread(
    useCallback(({ run }: SettledThread) => (run?.serviceRunId === runId ? run.error : null), [runId]),
  );
  const answered = useSettledThread(
    useCallback(({ calls }: SettledThread) => followsQuestion(calls, runId), [runId]),
  );
  const words = endWords(run.status, isLast, error);
  if (!words) return null;
  return (
    <div className={styles.end} data-status={run.status}>
      <p>{words}</p>
      {isLast && userId !== undefined && run.status !== "interrupted" && <TryAgain userId={userId} />}
      {isLast && answered && (run.status === "error" || run.status === "cancelled") && <AskAgain />}
      {isCutShort && (
        <Button look="quiet" onClick={() => shownRun.show(runId)}>
          See what it said
        </Button>
      )}
    </div>
  );
}

function endWords(
  status: CallView["status"],
  isLast: boolean,
  error: RunErrorView | null | undefined,
): string | undefined {
  switch (status) {
    case "error":
      return error ? `The run failed: ${withNode(error)}` : "The run failed.";
    case "lost":
      return "The run was lost: the service that ran it crashed, and could not recover it.";
    case "cancelled":
      return "Stopped.";
    case "interrupted":
      return isLast ? "The agent waits for your answer." : undefined;
    case "ok":
    case "running":
      return undefined;
  }
}

/** A graph's own error names the node already. */
function withNode({ message, node }: RunErrorView): string {
  return node && !message.includes(`\`${node}\``) ? `${message} (node \`${node}\`)` : message;
}

/** Whether the run before this one ended with a question: then this one was to take the answer. */
function followsQuestion(calls: readonly CallView[], runId: string): boolean {
  const runs = calls.filter(({ kind }) => kind === "run");
  return runs[runs.findIndex((run) => run.runId === runId) - 1]?.status === "interrupted";
}

/** An answer that made the graph fail would make it fail again: it is taken back, and the question asked anew. */
function AskAgain(): ReactNode {
  const commands = useCommands();
  const { track } = useSteering();
  const [outcome, setOutcome] = useState<CommandOutcome>();
  const refusal = outcome?.kind === "refused" ? outcome.message : outcome && outcomeWords(outcome);
  return (
    <>
      <Button onClick={() => void track(commands.askAgain()).then(setOutcome)}>Ask again</Button>
      {refusal !== undefined && <p role="alert">{refusal}</p>}
    </>
  );
}

/** The thread holds the question already, so a run without anything new answers it. */
function TryAgain({ userId }: { readonly userId: string }): ReactNode {
  const message = useMessage(userId);
  const commands = useCommands();
  const reason = useCaller().refusal("run", useThreadHandle());
  const { track } = useSteering();
  const [outcome, setOutcome] = useState<CommandOutcome>();
  if (!message || message.local !== undefined) return null;
  const problem = outcome && outcome.kind !== "done" ? outcomeWords(outcome) : undefined;
  return (
    <>
      <Button
        disabled={reason !== undefined}
        title={reason}
        onClick={() => void track(commands.run({})).then(setOutcome)}
      >
        Try again
      </Button>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </>
  );
}
