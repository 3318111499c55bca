"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread } from "@throughline/agent-react";
import type { ReactNode } from "react";

/** What changed, for whoever hears the page: once for each change, never for a token. */
export function ThreadNews(): ReactNode {
  const news = useThread(newsOf);
  return (
    <p className="visually-hidden" role="status">
      {news}
    </p>
  );
}

function newsOf({ view: { run, interrupts } }: ThreadSnapshot): string {
  if (interrupts.length > 0) return "The agent waits for your answer.";
  if (!run || run.serviceRunId.startsWith("throughline:")) return "";
  switch (run.status) {
    case "running":
      return "The agent is working.";
    case "success":
      return "The agent is done.";
    case "cancelled":
      return "The run was stopped.";
    case "error":
      return "The run failed.";
    case "interrupted":
      return "The agent paused.";
  }
}
