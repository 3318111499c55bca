"use client";

import { useInterrupts } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { type ReactNode, useEffect, useState } from "react";

const InterruptCards = dynamic(() => import("./interrupt-cards").then((module) => module.InterruptCards), {
  ssr: false,
});

/** Everything the agent waits for. What it takes to answer is loaded with the first question. */
export function OpenQuestions(): ReactNode {
  const isAsked = useInterrupts().length > 0;
  const [wasAsked, setAsked] = useState(isAsked);
  // Stays behind the last answer: it says there if that did not get through.
  useEffect(() => {
    if (isAsked) setAsked(true);
  }, [isAsked]);
  return isAsked || wasAsked ? <InterruptCards /> : null;
}
