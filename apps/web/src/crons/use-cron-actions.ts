"use client";

import { useState } from "react";
import { useCaller } from "../console/caller";
import type { Cron } from "../service/queries/crons";
import { useRunCron, useSwitchCron } from "../service/queries/crons";

export interface CronActions {
  readonly isBusy: boolean;
  /** Why crons may not be changed, or not be run. */
  readonly refusals: { readonly schedule: string | undefined; readonly run: string | undefined };
  readonly problem: string | undefined;
  runNow(): void;
  /** Pauses, or takes up again. */
  toggle(): void;
}

/** What a person does to a cron: one action at a time, with why the last one failed. */
export function useCronActions(cron: Pick<Cron, "id" | "enabled">): CronActions {
  const { refusal } = useCaller();
  const runCron = useRunCron(cron.id);
  const switchCron = useSwitchCron(cron.id);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();

  async function perform(action: () => Promise<unknown>): Promise<void> {
    setBusy(true);
    setProblem(undefined);
    try {
      await action();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  }

  return {
    isBusy,
    refusals: { schedule: refusal("schedule"), run: refusal("run") },
    problem,
    runNow: () => void perform(() => runCron()),
    toggle: () => void perform(() => switchCron(cron.enabled ? "pause" : "resume")),
  };
}
