"use client";

import { useInterrupts } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useState } from "react";
import type { SettledThread } from "../conversation/settled/settled-thread";
import { useSettledThread } from "../conversation/settled/use-settled-thread";

const InterruptCards = dynamic(() => import("./interrupt-cards").then((module) => module.InterruptCards), {
  ssr: false,
});

const PausedThread = dynamic(() => import("./paused-card").then((module) => module.PausedThread), {
  ssr: false,
});

/** Everything the agent waits for. What it takes to answer is loaded with the first question. */
export function OpenQuestions(): ReactNode {
  const isAsked = useInterrupts().length > 0;
  const pausedRun = useSettledThread(interruptedRun);
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

/** The run that waits: without a question, it was told to pause before a step. */
function interruptedRun({ run }: SettledThread): string | undefined {
  return run?.status === "interrupted" ? (run.serviceRunId ?? run.runId) : undefined;
}
