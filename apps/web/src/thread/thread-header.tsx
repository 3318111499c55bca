"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useCommands, useConnection, useThread, useThreadHandle } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { type ReactNode, useEffect, useState } from "react";
import { Button, IconButton } from "../agent-ui/primitives/button";
import { Icon } from "../agent-ui/primitives/icon";
import { type Status, StatusDot } from "../agent-ui/primitives/status";
import { useAgentCatalog } from "../data/agents";
import { DrawerButton } from "../shell/frame";
import { agentPath } from "../shell/routes";
import { connectionText } from "./connection-text";
import styles from "./thread-header.module.css";
import { ThreadMenu } from "./thread-menu";
import { ThreadTitle } from "./thread-title";
import { ThreadVisibility } from "./thread-visibility";

const OfflineModel = dynamic(() => import("../shell/offline-model").then((module) => module.OfflineModel), {
  ssr: false,
});

/** Loaded lazily: there is no usage before a run has ended. */
const UsageMeter = dynamic(() => import("./usage-meter").then((module) => module.UsageMeter), { ssr: false });

interface ThreadHeaderProps {
  readonly isPanelOpen: boolean;
  readonly isInspectorOpen: boolean;
  readonly onPanel: () => void;
  readonly onInspector: () => void;
  readonly onFind: () => void;
}

export function ThreadHeader({
  isPanelOpen,
  isInspectorOpen,
  onPanel,
  onInspector,
  onFind,
}: ThreadHeaderProps): ReactNode {
  const { agentId } = useThreadHandle();
  const agent = useAgentCatalog().byId.get(agentId);
  return (
    <header className={styles.header}>
      <DrawerButton />
      <ThreadStatus />
      <Link
        href={agentPath(agentId)}
        className={styles.agent}
        title={`New thread with ${agent?.name ?? agentId}`}
      >
        {agent?.name ?? agentId}
      </Link>
      <span className={styles.slash} aria-hidden="true">
        /
      </span>
      <ThreadTitle />
      <ThreadVisibility />
      <div className={styles.side}>
        {agent?.answeredBy === "script" && <OfflineModel isCompact />}
        <UsageMeter />
        <ConnectionBadge />
        <ThreadMenu onFind={onFind} isInspectorOpen={isInspectorOpen} onInspector={onInspector} />
        <IconButton
          icon="inspect"
          label={isInspectorOpen ? "Close the inspector" : "Open the inspector"}
          aria-pressed={isInspectorOpen}
          className={`${styles.toggle} ${styles.inspector}`}
          onClick={onInspector}
        />
        <IconButton
          icon="panel"
          label={isPanelOpen ? "Close the side panel" : "Open the side panel"}
          aria-pressed={isPanelOpen}
          className={styles.toggle}
          onClick={onPanel}
        />
      </div>
    </header>
  );
}

/** A component of its own: the only part of the header that renders again when a run begins or ends. */
function ThreadStatus(): ReactNode {
  return <StatusDot status={useThread(statusOf)} />;
}

function statusOf({ view: { run, interrupts } }: ThreadSnapshot): Status {
  if (run?.status === "running") return "running";
  if (interrupts.length > 0 || run?.status === "interrupted") return "waiting";
  return run?.status === "error" ? "error" : "idle";
}

/** Connection status of this thread as text, with a button to reconnect. Inside a `<ThreadProvider>`. */
function ConnectionBadge(): ReactNode {
  const status = useConnection();
  const { reconnect } = useCommands();
  const now = useNow(status.kind === "reconnecting" && status.retryAt !== undefined);
  const { tone, words, detail, canReconnect, announcement } = connectionText(status, now);
  return (
    <div className={styles.badge}>
      <span className={`${styles.state} ${styles[tone]}`} title={detail}>
        <span className={styles.mark} aria-hidden="true">
          {tone === "failed" && <Icon name="error" size={14} />}
        </span>
        <span className={styles.words}>{words}</span>
      </span>
      {/* The countdown is visible but not announced. */}
      <span className="visually-hidden" role="status">
        {announcement}
      </span>
      {canReconnect && (
        <Button look="quiet" className={styles.again} onClick={() => reconnect()}>
          Reconnect now
        </Button>
      )}
    </div>
  );
}

/** Returns the current time while a countdown is shown. */
function useNow(isCounting: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isCounting) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [isCounting]);
  return now;
}
