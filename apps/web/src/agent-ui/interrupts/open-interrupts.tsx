"use client";

import { useInterrupts } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useState } from "react";
import { isEdit } from "../conversation/run-origin";
import { type StableThread, useStableThread } from "../conversation/stable-thread";

const ThreadInterrupts = dynamic(
  () => import("./thread-interrupts").then((module) => module.ThreadInterrupts),
  {
    ssr: false,
  },
);

const PausedThread = dynamic(() => import("./paused-card").then((module) => module.PausedThread), {
  ssr: false,
});

/** All that the agent waits for. The forms are loaded with the first interrupt. */
export function OpenInterrupts(): ReactNode {
  const isAsked = useInterrupts().length > 0;
  const pausedRun = usePausedRun();
  const [wasAsked, setAsked] = useState(isAsked);
  // Stays mounted after the last response, to show an error if that could not be sent.
  useEffect(() => {
    if (isAsked) setAsked(true);
  }, [isAsked]);
  return (
    <>
      {(isAsked || wasAsked) && <ThreadInterrupts />}
      {!isAsked && pausedRun !== undefined && <PausedThread runId={pausedRun} />}
    </>
  );
}

/** The run that left the thread paused at a breakpoint, without an interrupt. */
function usePausedRun(): string | undefined {
  const current = useStableThread(pauseOf);
  const [known, setKnown] = useState(current ?? undefined);
  useEffect(() => {
    if (current !== null) setKnown(current);
  }, [current]);
  return current === null ? known : current;
}

/**
 * The run that left the thread paused. An edit of the state is a run too, during which the thread remains paused. `null`: a run has
 * begun and nothing else is known of it yet; it may be an edit. `undefined`: the thread is not paused.
 */
export function pauseOf({ run, calls }: Pick<StableThread, "run" | "calls">): string | null | undefined {
  const id = run?.serviceRunId ?? run?.runId;
  if (run?.status === "interrupted") return id;
  if (run?.status !== "running") return undefined;
  const call = calls.find(({ kind, runId }) => kind === "run" && runId === id);
  if (!call) return null;
  return isEdit(call.startedBy) ? id : undefined;
}
