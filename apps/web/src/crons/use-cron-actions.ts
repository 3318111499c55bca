"use client";

import { useState } from "react";
import { useCaller } from "../console/caller";
import type { Cron } from "./cron";
import { runCron, switchCron } from "./cron-calls";

export interface CronActions {
  readonly isBusy: boolean;
  /** Why crons may not be changed, or not be run. */
  readonly refusals: { readonly schedule: string | undefined; readonly run: string | undefined };
  readonly problem: string | undefined;
  runNow(): void;
  /** Pauses, or takes up again. */
  toggle(): void;
}

/** What can be done to a cron at once. One deed at a time; why one failed is said. */
export function useCronActions(cron: Pick<Cron, "id" | "enabled">, onDone: () => void): CronActions {
  const { refusal } = useCaller();
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();

  async function perform(deed: () => Promise<unknown>): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      await deed();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
    onDone();
  }

  return {
    isBusy,
    refusals: { schedule: refusal("schedule"), run: refusal("run") },
    problem,
    runNow: () => void perform(() => runCron(cron.id)),
    toggle: () => void perform(() => switchCron(cron.id, cron.enabled ? "pause" : "resume")),
  };
}
