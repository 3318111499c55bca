"use client";

import { type ReactNode, useState } from "react";
import { ConfirmDialog } from "../agent-ui/primitives/dialog";
import { useCaller } from "../data/caller";
import { type Cron, useDeleteCron, useRunCron, useSwitchCron } from "../data/crons";
import { scheduleWords } from "./schedule";

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
      {agentName} will no longer run {scheduleWords(cron.schedule)}, and the history of its ticks is gone.
      Threads it ran in stay. This can't be undone; to stop it for a while, pause it.
    </ConfirmDialog>
  );
}
