import { shareTabs } from "../tabs/share-tabs.js";
import { frontendTools } from "../tools/frontend-tools.js";
import type { ClientParts } from "./client-parts.js";
import { listAgents } from "./list-agents.js";
import { pollThreads } from "./poll-shell.js";

/** All that a client can do, for options to be spread with. */
export const everyPart: Required<ClientParts> = {
  tabs: shareTabs,
  polling: pollThreads,
  tools: frontendTools,
  agents: listAgents,
};
