"use client";

import type { BusyPolicy, CommandOutcome } from "@throughline/agent-client";
import { useCommands, useThreadState } from "@throughline/agent-react";
import dynamic from "next/dynamic";
import { type ReactNode, useState } from "react";
import { isNotHired } from "../../agents/not-hired";
import type { CatalogAgent } from "../../data/agents";
import { outcomeText } from "../conversation/outcome-text";
import { useThreadSession } from "../conversation/thread-session";
import { Button } from "../primitives/button";
import { ConfirmDialog } from "../primitives/dialog";
import styles from "./command-bar.module.css";

const SettingsDialog = dynamic(() => import("./settings-dialog").then((module) => module.SettingsDialog), {
  ssr: false,
});

/** The commands of the agent. `sync` opens its settings, `fire` asks for confirmation, any other runs at once. */
export function CommandBar({ agent }: { readonly agent: CatalogAgent }): ReactNode {
  const commands = useCommands();
  const { track } = useThreadSession();
  const [asked, setAsked] = useState<"sync" | "fire">();
  // Loaded with the first press and not unmounted: closing it returns the focus.
  const [wasSettings, setWasSettings] = useState(false);
  const [last, setLast] = useState<{ readonly name: string; readonly outcome: CommandOutcome }>();

  async function run(name: string, busy: BusyPolicy = { kind: "reject" }): Promise<void> {
    setLast(undefined);
    const outcome = await track(name === "fire" ? commands.fire() : commands.command(name, undefined, busy));
    setLast({ name, outcome });
  }

  const problem = last && outcomeText(last.outcome);
  const notHired = useThreadState(isNotHired) && agent.commands.includes("hire");
  return (
    <div className={styles.bar}>
      {notHired && (
        <p className={styles.notHired} role="status">
          {agent.name} is not hired, so its last cycle did nothing.
          <Button look="primary" className={styles.command} onClick={() => void run("hire")}>
            Hire {agent.name}
          </Button>
        </p>
      )}
      <div className={styles.commands} role="toolbar" aria-label={`Commands of ${agent.name}`}>
        {agent.commands
          .filter((name) => name !== "sync" && name !== "fire")
          .map((name) => (
            <Button key={name} className={styles.command} onClick={() => void run(name)}>
              {titleOf(name)}
            </Button>
          ))}
        {agent.commands.includes("sync") && (
          <Button
            className={styles.command}
            onClick={() => {
              setWasSettings(true);
              setAsked("sync");
            }}
          >
            Settings
          </Button>
        )}
        {agent.commands.includes("fire") && (
          <Button look="quiet" className={styles.command} onClick={() => setAsked("fire")}>
            Fire
          </Button>
        )}
      </div>
      {problem !== undefined && last && (
        <p className={styles.problem} role="alert">
          {titleOf(last.name)}: {problem}
          {last.outcome.kind === "busy" && (
            <Button look="quiet" onClick={() => void run(last.name, { kind: "queue" })}>
              Do it when the run is done
            </Button>
          )}
        </p>
      )}
      {wasSettings && (
        <SettingsDialog agent={agent} isOpen={asked === "sync"} onClose={() => setAsked(undefined)} />
      )}
      <ConfirmDialog
        isOpen={asked === "fire"}
        onClose={() => setAsked(undefined)}
        title={`Fire ${agent.name}?`}
        action={`Fire ${agent.name}`}
        onConfirm={() => void run("fire")}
      >
        Its run is stopped, and it does nothing more until it is hired again. What it wrote stays.
      </ConfirmDialog>
    </div>
  );
}

function titleOf(name: string): string {
  const words = name.replace(/[-_]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
