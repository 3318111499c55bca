"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread } from "@throughline/agent-react";

/** Nothing of the thread is known yet: whether it is empty, the service has still to say. */
export function useIsAwaited(): boolean {
  return useThread(isAwaited);
}

function isAwaited({ view, connection }: ThreadSnapshot): boolean {
  const isOnItsWay = connection.kind === "closed" || connection.kind === "connecting";
  return view.run === null && isOnItsWay;
}
