"use client";

import { QueryClientProvider } from "@tanstack/react-query";
import { createAgentClient, everyPart } from "@throughline/agent-client";
import { AgentProvider } from "@throughline/agent-react";
import { type ReactNode, useEffect, useState } from "react";
import { ActivityProvider } from "../agents/activity";
import { useSeenThreads } from "../agents/use-seen-threads";
import { DraftsProvider } from "../composer/drafts";
import { ToastProvider } from "../design/toast";
import { useNotifier } from "../inbox/use-notifier";
import { WaitingNotices } from "../inbox/waiting-notices";
import { type Identity, identityLabel } from "../service/identity";
import { pageFetch, setPageIdentity } from "../service/page-fetch";
import { createQueryClient } from "../service/queries/query-client";
import { CallerContext, useAskedCaller } from "./caller";
import { ConsoleFrame } from "./console-frame";
import { OtherSignInDialog } from "./other-sign-in";
import { createShortcutRegistry } from "./shortcut-registry";
import { AgentCatalogContext, useAskedCatalog } from "./use-agent-catalog";
import { useOfflinePage } from "./use-offline-page";
import { usePlace } from "./use-place";
import { ShortcutContext } from "./use-shortcut";

interface ConsoleProps {
  readonly identity: Identity;
  readonly children: ReactNode;
}

/** Everything that lives as long as a person is signed in. */
export function Console(props: ConsoleProps): ReactNode {
  const [queries] = useState(createQueryClient);
  return (
    <QueryClientProvider client={queries}>
      <SignedIn {...props} />
    </QueryClientProvider>
  );
}

function SignedIn({ identity, children }: ConsoleProps): ReactNode {
  const account = identityLabel(identity);
  const [client] = useState(() => {
    // A server renders for many, and asks for nothing.
    if (typeof window !== "undefined") setPageIdentity(identity);
    return createAgentClient({ url: "/api/copilotkit", fetch: pageFetch, ...identity, ...everyPart });
  });
  const [shortcuts] = useState(createShortcutRegistry);
  const catalog = useAskedCatalog();
  const caller = useAskedCaller();
  const { agentId, threadName, visibility } = usePlace();
  const isThread = agentId !== undefined && threadName !== undefined;
  const seen = useSeenThreads(account, isThread ? { agentId, threadName, visibility } : undefined);
  const isNotifier = useNotifier(account);
  useEffect(() => shortcuts.listen(window), [shortcuts]);
  useOfflinePage();
  return (
    <AgentProvider client={client}>
      <AgentCatalogContext value={catalog}>
        <CallerContext value={caller}>
          <ActivityProvider seen={seen} inBackground={isNotifier}>
            <ShortcutContext value={shortcuts}>
              <ToastProvider>
                <DraftsProvider account={account}>
                  <ConsoleFrame account={account}>{children}</ConsoleFrame>
                  {isNotifier && <WaitingNotices account={account} />}
                  <OtherSignInDialog account={account} />
                </DraftsProvider>
              </ToastProvider>
            </ShortcutContext>
          </ActivityProvider>
        </CallerContext>
      </AgentCatalogContext>
    </AgentProvider>
  );
}
