"use client";

import type { ThreadSnapshot } from "@throughline/agent-client";
import { useThread, useThreadHandle } from "@throughline/agent-react";
import type { ReactNode } from "react";
import { copyText } from "../agent-ui/primitives/copy-text";
import { Kbd } from "../agent-ui/primitives/kbd";
import { Menu } from "../agent-ui/primitives/menu";
import { useToaster } from "../agent-ui/primitives/toast";
import { useAgentCatalog } from "../data/agents";
import { useThreadTitle } from "./thread-title";

interface ThreadMenuProps {
  readonly onFind: () => void;
  readonly isInspectorOpen: boolean;
  readonly onInspector: () => void;
}

/** Menu of actions on the whole thread. */
export function ThreadMenu({ onFind, isInspectorOpen, onInspector }: ThreadMenuProps): ReactNode {
  const handle = useThreadHandle();
  const toaster = useToaster();
  const title = useThreadTitle() ?? "Thread";
  const agentName = useAgentCatalog().byId.get(handle.agentId)?.name ?? handle.agentId;
  const isEmpty = useThread(hasNothing);
  const exported = async () => {
    const { exportThread } = await import("./export-thread");
    return exportThread(handle, { title, agentName });
  };

  async function copy(): Promise<void> {
    const isCopied = await copyText((await exported()).markdown());
    toaster.show({
      key: "copy-thread",
      title: isCopied ? "Copied the thread" : "The browser refused to copy",
    });
  }

  return (
    <Menu
      label="Thread actions"
      items={[
        {
          label: "Find in this thread",
          icon: "search",
          note: <Kbd keys="f" />,
          isDisabled: isEmpty,
          onSelect: onFind,
        },
        {
          label: isInspectorOpen ? "Close the inspector" : "Open the inspector",
          icon: "inspect",
          note: <Kbd keys="mod+j" />,
          onSelect: onInspector,
        },
        { label: "Copy as Markdown", icon: "copy", isDisabled: isEmpty, onSelect: () => void copy() },
        {
          label: "Export as Markdown",
          icon: "download",
          startsGroup: true,
          isDisabled: isEmpty,
          onSelect: () => void exported().then((one) => one.saveMarkdown()),
        },
        {
          label: "Export as JSON",
          icon: "download",
          isDisabled: isEmpty,
          onSelect: () => void exported().then((one) => one.saveJson()),
        },
      ]}
    />
  );
}

function hasNothing({ view }: ThreadSnapshot): boolean {
  return view.messages.length === 0;
}
