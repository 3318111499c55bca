"use client";

import { useThread, useThreadState } from "@throughline/agent-react";
import type { JsonObject } from "@throughline/ai-core";
import { type ReactNode, useState } from "react";
import { EmptyState } from "../../agent-ui/primitives/empty-state";
import { type Tab, Tabs } from "../../agent-ui/primitives/tabs";
import { FilesTab } from "./files-tab";
import { HistoryTab } from "./history-tab";
import { RunsTab } from "./runs-tab";
import { useReplayedRun } from "./shown-run";
import { StateTab } from "./state-tab";
import styles from "./thread-panel.module.css";
import { UsageTab } from "./usage-tab";

type TabId = "files" | "state" | "runs" | "history" | "usage";

/** Side panel of a thread. Shows only tabs that have content. */
export function ThreadPanel(): ReactNode {
  const [chosen, setChosen] = useState<TabId>();
  const shownRun = useReplayedRun();
  const hasState = useThreadState(isFilled);
  const work = useThreadState(workOf);
  const hasRun = useThread(({ view }) => view.messages.length > 0 || view.calls.length > 0);
  const tabs: Tab<TabId>[] = [];
  if (work !== undefined) tabs.push({ id: "files", label: work });
  if (hasState) tabs.push({ id: "state", label: "State" });
  if (hasRun) {
    tabs.push(
      { id: "runs", label: "Runs" },
      { id: "history", label: "History" },
      { id: "usage", label: "Usage" },
    );
  }
  const wanted = shownRun.runId === undefined ? chosen : "runs";
  const value = tabs.some(({ id }) => id === wanted) ? wanted : tabs[0]?.id;
  if (value === undefined) {
    return (
      <EmptyState title="Nothing to show yet">
        State, files, runs, checkpoints and usage of this thread show here once it has run.
      </EmptyState>
    );
  }
  function choose(tab: TabId): void {
    shownRun.hide();
    setChosen(tab);
  }
  return (
    <Tabs
      label="About this thread"
      tabs={tabs}
      value={value}
      onChange={choose}
      className={styles.panel ?? ""}
    >
      <TabContent id={value} />
    </Tabs>
  );
}

function TabContent({ id }: { readonly id: TabId }): ReactNode {
  switch (id) {
    case "files":
      return <FilesTab />;
    case "state":
      return <StateTab />;
    case "runs":
      return <RunsTab />;
    case "history":
      return <HistoryTab />;
    case "usage":
      return <UsageTab />;
  }
}

function isFilled(state: JsonObject): boolean {
  return Object.keys(state).length > 0;
}

/** Label of a deep agent's tab, from its content. */
function workOf({ todos, files }: JsonObject): string | undefined {
  const hasTodos = Array.isArray(todos) && todos.length > 0;
  const hasFiles = typeof files === "object" && files !== null && Object.keys(files).length > 0;
  if (hasTodos && hasFiles) return "Todos & files";
  if (hasTodos) return "Todos";
  return hasFiles ? "Files" : undefined;
}
