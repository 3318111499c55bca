"use client";

import { useInterrupts } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useState } from "react";
import { useSettledThread } from "../conversation/settled/use-settled-thread";
import { pauseOf } from "./pause-of";

const InterruptCards = dynamic(() => import("./interrupt-cards").then((module) => module.InterruptCards), {
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
