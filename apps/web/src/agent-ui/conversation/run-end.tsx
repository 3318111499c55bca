"use client";

import type { CallView, CommandOutcome } from "@throughline/agent-client";
import { useCommands, useThreadHandle } from "@throughline/agent-react";
import { type ReactNode, useCallback, useState } from "react";
import { useCaller } from "../../data/caller";
import { useRetry } from "../../data/runs";
import { useReplayedRun } from "../../thread/panel/shown-run";
import { Button } from "../primitives/button";
import { Disclosure } from "../primitives/disclosure";
import type { CallIndex } from "./call-index";
import { type Failure, FailureDetail, failureText, runFailure } from "./failure";
import { outcomeText, startProblem } from "./outcome-text";
import styles from "./run-end.module.css";
import { type StableThread, useStableThread } from "./stable-thread";
import { useThreadSession } from "./thread-session";

interface RunEndProps {
  readonly run: CallView;
  readonly index: CallIndex;
  readonly isLast: boolean;
  /** It streamed text that is not part of the conversation. */
  readonly isCutShort: boolean;
}

/** Shows how a run ended and how to continue. Renders nothing, and subscribes to nothing, for the most common end: success. */
export function RunEnd(props: RunEndProps): ReactNode {
  const { status } = props.run;
  return status === "ok" || status === "running" ? null : <OtherEnd {...props} status={status} />;
}

type OtherStatus = Exclude<CallView["status"], "ok" | "running">;

function OtherEnd({
  run,
  index,
  isLast,
  isCutShort,
  status,
}: RunEndProps & { readonly status: OtherStatus }): ReactNode {
  const { runId } = run;
  const shownRun = useReplayedRun();
  const lastError = useStableThread(
    useCallback(({ run }: StableThread) => (run?.serviceRunId === runId ? run.error : null), [runId]),
  );
  const answered = useStableThread(
    useCallback(({ calls }: StableThread) => followsInterrupt(calls, runId), [runId]),
  );
  const failure = runFailure(run, index, lastError);
  const words = endText(status, isLast, failure);
  if (!words) return null;
  // A response that made the first step fail would make it fail again.
  const canReask =
    answered && status !== "lost" && !index.childrenOf(run).some(({ status }) => status === "ok");
  return (
    <div className={styles.end} data-status={status}>
      <p>{words}</p>
      {isLast && status !== "interrupted" && (canReask ? <ReaskInterrupt /> : <TryAgain />)}
      {isCutShort && (
        <Button look="quiet" onClick={() => shownRun.show(runId)}>
          See what it said
        </Button>
      )}
      {failure && (
        <Disclosure className={styles.why ?? ""} summary="Why it failed">
          <FailureDetail error={failure} />
        </Disclosure>
      )}
    </div>
  );
}

function endText(status: OtherStatus, isLast: boolean, failure: Failure | undefined): string | undefined {
  switch (status) {
    case "error":
      return failureText(failure);
    case "lost":
      return "The run was lost: the service that ran it crashed, and could not recover it.";
    case "cancelled":
      return "Stopped.";
    case "interrupted":
      return isLast ? "The agent waits for you." : undefined;
  }
}

/** Whether the run before this one ended with an interrupt: then this one received the response. */
function followsInterrupt(calls: readonly CallView[], runId: string): boolean {
  const runs = calls.filter(({ kind }) => kind === "run");
  return runs[runs.findIndex((run) => run.runId === runId) - 1]?.status === "interrupted";
}

/** Discards the response and asks again: a response that made the graph fail would make it fail again. */
function ReaskInterrupt(): ReactNode {
  const commands = useCommands();
  const { track } = useThreadSession();
  const [outcome, setOutcome] = useState<CommandOutcome>();
  const refusal = outcome?.kind === "refused" ? outcome.message : outcome && outcomeText(outcome);
  return (
    <>
      <Button onClick={() => void track(commands.askAgain()).then(setOutcome)}>Ask again</Button>
      {refusal !== undefined && <p role="alert">{refusal}</p>}
    </>
  );
}

/** Retries the run from the step that failed. */
function TryAgain(): ReactNode {
  const thread = useThreadHandle();
  const retry = useRetry(thread);
  const reason = useCaller().refusal("run", thread);
  const { claim } = useThreadSession();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();

  async function start(): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      claim(await retry());
    } catch (error) {
      setProblem(startProblem(error).text);
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <Button disabled={isBusy || reason !== undefined} title={reason} onClick={() => void start()}>
        Try again
      </Button>
      {problem !== undefined && <p role="alert">{problem}</p>}
    </>
  );
}
