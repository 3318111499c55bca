"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread, useThreadHandle } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import type { ReactNode } from "react";
import { ConnectionBadge } from "../../console/connection-badge";
import { DrawerButton } from "../../console/drawer-button";
import { agentPath } from "../../console/paths";
import { useAgentCatalog } from "../../console/use-agent-catalog";
import { IconButton } from "../../design/button";
import { type Status, StatusDot } from "../../design/status-dot";
import styles from "./thread-header.module.css";
import { ThreadMenu } from "./thread-menu";
import { ThreadTitle } from "./thread-title";
import { ThreadVisibility } from "./thread-visibility";

const OfflineModel = dynamic(
  () => import("../../console/offline-model").then((module) => module.OfflineModel),
  { ssr: false },
);

/** There is nothing to tell before a run has ended. */
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

/** On its own: it is all of the header that a run renders again when it begins and ends. */
function ThreadStatus(): ReactNode {
  return <StatusDot status={useThread(statusOf)} />;
}

function statusOf({ view: { run, interrupts } }: ThreadSnapshot): Status {
  if (run?.status === "running") return "running";
  if (interrupts.length > 0 || run?.status === "interrupted") return "waiting";
  return run?.status === "error" ? "error" : "idle";
}
