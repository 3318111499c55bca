import type { TabSharingOptions } from "../tabs/share-tabs.js";
import type { Tabs } from "../tabs/tabs.js";
import type { FrontendTools, FrontendToolsOptions } from "../tools/frontend-tools.js";
import type { AgentList, AgentListOptions } from "./list-agents.js";
import type { PollShell, PollShellOptions } from "./poll-shell.js";

/** What not every page needs. It is given by value, so that a page that does not use it does not download it. */
export interface ClientParts {
  /** `shareTabs`: one connection for all tabs of a browser. Left out, each tab has its own. */
  readonly tabs?: (options: TabSharingOptions) => Tabs | undefined;
  /** `pollThreads`: asks now and then how threads stand whose page is not open. `watch` needs it, and so does `statusThread`. */
  readonly polling?: (options: PollShellOptions) => PollShell;
  /** `frontendTools`: runs tools in the page. `declareTool` needs it. */
  readonly tools?: (options: FrontendToolsOptions) => FrontendTools;
  /** `listAgents`: the agents that the service has. `agents` needs it. */
  readonly agents?: (options: AgentListOptions) => AgentList;
}

/** For who asks of a client what it was not given. */
export function missingPart(part: string): Error {
  return new Error(`Pass \`${part}\` to createAgentClient().`);
}
