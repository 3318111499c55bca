"use client";

import { newId } from "@throughline/agent-client";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { threadPath } from "../../console/paths";
import { usePlace } from "../../console/use-place";
import { ThreadPage } from "./thread-page";

/** A thread that does not exist yet. It gets its address with the first thing that is sent, and stays the same page. */
export function NewThreadPage({ agentId }: { readonly agentId: string }): ReactNode {
  const [freshId, setFreshId] = useState(() => newId(Date.now()));
  // The address was changed behind the router's back, which goes on showing this page for it, and for others like it.
  const { threadName: named, visibility } = usePlace();
  const threadId = named ?? freshId;
  const isUsed = useRef(false);

  const begin = useCallback(() => {
    if (isUsed.current) return;
    isUsed.current = true;
    // Not by the router: another route would be another page, and would lose what was just written.
    window.history.replaceState(null, "", threadPath(agentId, threadId));
  }, [agentId, threadId]);

  useEffect(() => {
    if (named !== undefined || !isUsed.current) return;
    isUsed.current = false;
    setFreshId(newId(Date.now()));
  }, [named]);

  return (
    <ThreadPage key={threadId} agentId={agentId} threadId={threadId} visibility={visibility} onSend={begin} />
  );
}
