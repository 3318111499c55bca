"use client";

import { type ReactNode, useState } from "react";
import { ConfirmDialog } from "../agent-ui/primitives/dialog";
import { useCaller } from "../data/caller";
import { type Cron, useDeleteCron, useRunCron, useSwitchCron } from "../data/crons";
import { scheduleText } from "./schedule";

export interface CronActions {
  readonly isBusy: boolean;
  /** Reasons why the caller may not change or run crons; `undefined` where they may. */
  readonly refusals: { readonly schedule: string | undefined; readonly run: string | undefined };
  readonly problem: string | undefined;
  runNow(): void;
  /** Pauses or unpauses the cron. */
  toggle(): void;
}

/** Actions on a cron, one at a time, with the error of the last one. */
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

interface DeleteCronDialogProps {
  readonly cron: Pick<Cron, "id" | "schedule">;
  readonly agentName: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function DeleteCronDialog({
  cron,
  agentName,
  isOpen,
  onClose,
  onDeleted,
}: DeleteCronDialogProps): ReactNode {
  const deleteCron = useDeleteCron(cron.id);
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title="Delete this cron?"
      action="Delete cron"
      onConfirm={async () => {
        await deleteCron();
        onDeleted?.();
      }}
    >
      {agentName} will no longer run {scheduleText(cron.schedule)}, and the history of its ticks is gone.
      Threads it ran in stay. This can't be undone; to stop it for a while, pause it.
    </ConfirmDialog>
  );
}
