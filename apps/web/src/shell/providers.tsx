"use client";

import { QueryClientProvider } from "@tanstack/react-query";
import { allFeatures, createAgentClient } from "@throughline/agent-client";
import { AgentProvider } from "@throughline/agent-react";
import { type ReactNode, useEffect, useState } from "react";
import { DraftsProvider } from "../agent-ui/composer/drafts";
import { ToastProvider } from "../agent-ui/primitives/toast";
import { ActivityProvider } from "../agents/activity";
import { useSeenThreads } from "../agents/seen-threads";
import { AgentCatalogContext, useCatalogQuery } from "../data/agents";
import { CallerContext, useCallerQuery } from "../data/caller";
import { type Identity, identityLabel } from "../data/identity";
import { createQueryClient } from "../data/query";
import { pageFetch, setPageIdentity } from "../data/request";
import { useNotifier, WaitingNotices } from "../inbox/notifications";
import { ConsoleFrame } from "./frame";
import { createShortcutRegistry, ShortcutContext } from "./shortcuts";
import { OtherSignInDialog } from "./sign-out";
import { useRoute } from "./use-route";

interface ConsoleProps {
  readonly identity: Identity;
  readonly children: ReactNode;
}

/** Provides everything that lives as long as a person is signed in. */
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
    // A server renders for many callers and sends no requests.
    if (typeof window !== "undefined") setPageIdentity(identity);
    return createAgentClient({ url: "/api/copilotkit", fetch: pageFetch, ...identity, ...allFeatures });
  });
  const [shortcuts] = useState(createShortcutRegistry);
  const catalog = useCatalogQuery();
  const caller = useCallerQuery();
  const { agentId, threadName, visibility } = useRoute();
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

/**
 * Lets the browser show our own page while the console's server is unreachable. Browsers allow it over HTTPS and on localhost;
 * elsewhere the browser's own error page shows.
 */
function useOfflinePage(): void {
  useEffect(() => {
    if (process.env.NODE_ENV !== "production" || !("serviceWorker" in navigator)) return;
    const timer = setTimeout(
      () => navigator.serviceWorker.register("/offline-worker.js").catch(() => {}),
      2_000,
    );
    return () => clearTimeout(timer);
  }, []);
}
