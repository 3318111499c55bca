"use client";

import { newId } from "@throughline/agent-client";
import { ThreadProvider } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { Composer } from "../agent-ui/composer/composer";
import { Conversation } from "../agent-ui/conversation/conversation";
import { preloadTurns } from "../agent-ui/conversation/preload-turns";
import { ThreadSessionProvider } from "../agent-ui/conversation/thread-session";
import { EmptyState } from "../agent-ui/primitives/empty-state";
import { useStoredFlag } from "../agent-ui/primitives/stored-state";
import { useAgentCatalog } from "../data/agents";
import { threadPath } from "../shell/routes";
import { useShortcut } from "../shell/shortcuts";
import { useRoute } from "../shell/use-route";
import { ReplayedRunProvider } from "./panel/shown-run";
import { ThreadHeader } from "./thread-header";
import styles from "./thread-page.module.css";
import { ThreadTabTitle } from "./thread-title";

const ThreadPanel = dynamic(() => import("./panel/thread-panel").then((module) => module.ThreadPanel), {
  ssr: false,
});
const Inspector = dynamic(() => import("./inspector/inspector").then((module) => module.Inspector), {
  ssr: false,
});

interface ThreadPageProps {
  readonly agentId: string;
  readonly threadId: string;
  readonly visibility?: "account" | undefined;
  /** For a thread that does not exist yet: called with each message or command that is sent. */
  readonly onSend?: () => void;
}

/** Page of one thread: conversation, composer, side panel and inspector. */
export function ThreadPage({ agentId, threadId, visibility, onSend }: ThreadPageProps): ReactNode {
  const [isPanelOpen, setPanelOpen] = useStoredFlag("panel");
  const [isInspectorOpen, setInspectorOpen] = useStoredFlag("inspector");
  const openPanel = useCallback(() => setPanelOpen(true), [setPanelOpen]);
  const togglePanel = () => setPanelOpen(!isPanelOpen);
  const toggleInspector = () => setInspectorOpen(!isInspectorOpen);
  const [isFinding, setFinding] = useState(false);
  const catalog = useAgentCatalog();
  // An existing thread has messages, which are loading by now.
  useEffect(() => {
    if (!onSend) preloadTurns();
  }, [onSend]);
  useShortcut("f", "Find in this thread", () => setFinding(true));
  useShortcut("mod+b", "Open or close the side panel", togglePanel);
  useShortcut("mod+j", "Open or close the inspector", toggleInspector);
  if (catalog.agents && !catalog.byId.has(agentId)) return <UnknownAgent agentId={agentId} />;
  return (
    <ThreadProvider agentId={agentId} threadId={threadId} visibility={visibility}>
      <ThreadSessionProvider key={`${agentId} ${visibility} ${threadId}`} onSend={onSend ?? nothing}>
        <ThreadTabTitle />
        <div className={styles.page}>
          <ThreadHeader
            isPanelOpen={isPanelOpen}
            isInspectorOpen={isInspectorOpen}
            onPanel={togglePanel}
            onInspector={toggleInspector}
            onFind={() => setFinding(true)}
          />
          <ReplayedRunProvider onShow={openPanel}>
            <div className={styles.middle}>
              <div className={styles.talk}>
                <Conversation isFinding={isFinding} onFound={() => setFinding(false)} />
                <Composer />
              </div>
              {isPanelOpen && (
                <aside className={styles.panel} aria-label="About this thread">
                  <ThreadPanel />
                </aside>
              )}
            </div>
          </ReplayedRunProvider>
          {isInspectorOpen && (
            <section className={styles.inspector} aria-label="Inspector">
              <Inspector />
            </section>
          )}
        </div>
      </ThreadSessionProvider>
    </ThreadProvider>
  );
}

function UnknownAgent({ agentId }: { readonly agentId: string }): ReactNode {
  const home = (
    <Link href="/" className={styles.home}>
      See all agents
    </Link>
  );
  return (
    <div className={styles.nowhere}>
      <EmptyState title="There is no such agent" actions={home}>
        The service has no agent called {agentId}. It may have been renamed, or belong to another service.
      </EmptyState>
    </div>
  );
}

function nothing(): void {}

/** Page of a thread that does not exist yet. It gets its URL with the first message and stays the same component. */
export function NewThreadPage({ agentId }: { readonly agentId: string }): ReactNode {
  const [freshId, setFreshId] = useState(() => newId(Date.now()));
  // The URL was changed without the router, which still shows this page for it, and for others like it.
  const { threadName: named, visibility } = useRoute();
  const threadId = named ?? freshId;
  const isUsed = useRef(false);

  const begin = useCallback(() => {
    if (isUsed.current) return;
    isUsed.current = true;
    // Not by the router: another route would be another page, and would lose what was just typed.
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
