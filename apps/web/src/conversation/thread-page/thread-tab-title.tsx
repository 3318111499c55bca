"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { useAgentCatalog } from "../../console/use-agent-catalog";
import { useTabName } from "../../console/use-tab-title";
import { useRefreshListing } from "../../service/queries/thread-listing";
import { useRefreshOnRun } from "../settled/use-refresh-on-run";
import { useThreadTitle } from "./use-thread-title";

/** Names the tab after its thread; the address alone knows the agent. */
export function ThreadTabTitle(): null {
  const thread = useThreadHandle();
  const agentName = useAgentCatalog().byId.get(thread.agentId)?.name;
  const title = useThreadTitle();
  const isKnown = title !== undefined && agentName !== undefined;
  // That is when the service gives it a title, or another one.
  useRefreshOnRun(useRefreshListing(thread));
  useTabName(isKnown ? `${title} · ${agentName}` : undefined);
  return null;
}
