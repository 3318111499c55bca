"use client";

import { useInterrupts } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useState } from "react";
import { isEdit } from "../conversation/run-origin";
import { type SettledThread, useSettledThread } from "../conversation/stable-thread";

const InterruptCards = dynamic(() => import("./thread-interrupts").then((module) => module.InterruptCards), {
  ssr: false,
});

const PausedThread = dynamic(() => import("./paused-card").then((module) => module.PausedThread), {
  ssr: false,
});

/** Everything the agent waits for. What it takes to answer is loaded with the first question. */
export function OpenQuestions(): ReactNode {
  const isAsked = useInterrupts().length > 0;
  const pausedRun = usePausedRun();
  const [wasAsked, setAsked] = useState(isAsked);
  // Stays mounted after the last answer, to say so if that could not be sent.
  useEffect(() => {
    if (isAsked) setAsked(true);
  }, [isAsked]);
  return (
    <>
      {(isAsked || wasAsked) && <InterruptCards />}
      {!isAsked && pausedRun !== undefined && <PausedThread runId={pausedRun} />}
    </>
  );
}

/** The run that left the thread paused: without a question, it was told to pause before a step. */
function usePausedRun(): string | undefined {
  const told = useSettledThread(pauseOf);
  const [known, setKnown] = useState(told ?? undefined);
  useEffect(() => {
    if (told !== null) setKnown(told);
  }, [told]);
  return told === null ? known : told;
}

/**
 * The run that left the thread paused. An edit of the state is a run, too, during which the thread stays paused. `null`: a run has
 * begun of which nothing else is known yet; it may be an edit. `undefined`: the thread is not paused.
 */
export function pauseOf({ run, calls }: Pick<SettledThread, "run" | "calls">): string | null | undefined {
  const id = run?.serviceRunId ?? run?.runId;
  if (run?.status === "interrupted") return id;
  if (run?.status !== "running") return undefined;
  const call = calls.find(({ kind, runId }) => kind === "run" && runId === id);
  if (!call) return null;
  return isEdit(call.startedBy) ? id : undefined;
}
