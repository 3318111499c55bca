"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { useEffect } from "react";
import { useAgentCatalog } from "../../console/use-agent-catalog";
import { useThreadTitle } from "./use-thread-title";

/** Names the tab after its thread; the address alone knows the agent. */
export function ThreadTabTitle(): null {
  const { agentId } = useThreadHandle();
  const agentName = useAgentCatalog().byId.get(agentId)?.name;
  const title = useThreadTitle();
  useEffect(() => {
    if (title === undefined || agentName === undefined) return;
    const before = document.title;
    document.title = `${title} · ${agentName}`;
    return () => {
      document.title = before;
    };
  }, [title, agentName]);
  return null;
}
