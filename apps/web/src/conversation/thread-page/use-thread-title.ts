"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread, useThreadHandle } from "@throughline/agent-react";
import { titleOf } from "../../agents/thread-row";
import { useListing } from "../../service/queries/thread-listing";

/** How the thread is listed, asked anew when a run begins or ends: that is when the service gives it a title. */
export function useThreadListing() {
  return useListing(useThreadHandle(), useThread(listingMoment));
}

/** What a person calls the thread; `undefined` before anything was said in it. */
export function useThreadTitle(): string | undefined {
  const { threadId } = useThreadHandle();
  const { value } = useThreadListing();
  return value ? titleOf({ title: value.title, threadName: threadId }) : undefined;
}

/** A thread in which nothing ran is listed nowhere. */
function listingMoment({ view: { run } }: ThreadSnapshot): string | undefined {
  return run && run.serviceRunId !== "throughline:empty" ? `${run.serviceRunId} ${run.status}` : undefined;
}
