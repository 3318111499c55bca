"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread, useThreadHandle } from "@throughline/agent-react";
import { titleOf } from "../../agents/thread-row";
import { useListing } from "../../service/queries/thread-listing";

/** How the thread is listed. */
export function useThreadListing() {
  return useListing(useThreadHandle(), { enabled: useThread(isListed) });
}

/** What a person calls the thread; `undefined` before anything was said in it. */
export function useThreadTitle(): string | undefined {
  const { threadId } = useThreadHandle();
  const { value } = useThreadListing();
  return value ? titleOf({ title: value.title, threadName: threadId }) : undefined;
}

/** A thread in which nothing ran is listed nowhere. */
function isListed({ view: { run } }: ThreadSnapshot): boolean {
  return run !== null && run.serviceRunId !== "throughline:empty";
}
