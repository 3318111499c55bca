"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { useAgentCatalog } from "../../console/use-agent-catalog";
import { useTabName } from "../../console/use-tab-title";
import { useThreadTitle } from "./use-thread-title";

/** Names the tab after its thread; the address alone knows the agent. */
export function ThreadTabTitle(): null {
  const { agentId } = useThreadHandle();
  const agentName = useAgentCatalog().byId.get(agentId)?.name;
  const title = useThreadTitle();
  const isKnown = title !== undefined && agentName !== undefined;
  useTabName(isKnown ? `${title} · ${agentName}` : undefined);
  return null;
}
