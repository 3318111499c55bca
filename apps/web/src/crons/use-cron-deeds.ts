"use client";

import { useState } from "react";
import type { Cron } from "./cron";
import { runCron, switchCron } from "./cron-calls";

export interface CronDeeds {
  readonly isBusy: boolean;
  readonly problem: string | undefined;
  runNow(): void;
  /** Pauses, or takes up again. */
  toggle(): void;
}

/** What can be done to a cron at once. One deed at a time; why one failed is said. */
export function useCronDeeds(cron: Pick<Cron, "id" | "enabled">, onDone: () => void): CronDeeds {
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
    problem,
    runNow: () => void perform(() => runCron(cron.id)),
    toggle: () => void perform(() => switchCron(cron.id, cron.enabled ? "pause" : "resume")),
  };
}
