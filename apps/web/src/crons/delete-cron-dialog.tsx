"use client";

import type { ReactNode } from "react";
import { ConfirmDialog } from "../design/confirm-dialog";
import type { Cron } from "../service/queries/crons";
import { useDeleteCron } from "../service/queries/crons";
import { scheduleWords } from "./schedule-plan";

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
