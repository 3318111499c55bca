"use client";

import type { SubmittedCommand } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

interface OwnRuns {
  /** By the service's own id. */
  has(runId: string): boolean;
  add(command: SubmittedCommand): void;
}

/** Runs that commands of this page started. */
export function useOwnRuns(): OwnRuns {
  const handle = useThreadHandle();
  const commandIds = useRef(new Set<string>());
  const [runIds, setRunIds] = useState<ReadonlySet<string>>(new Set());

  const remember = useCallback((runId: string | undefined) => {
    if (runId !== undefined)
      setRunIds((before) => (before.has(runId) ? before : new Set([...before, runId])));
  }, []);

  useEffect(
    () =>
      handle.subscribe(() => {
        const { run } = handle.getSnapshot().view;
        if (run && commandIds.current.has(run.runId)) remember(run.serviceRunId);
      }),
    [handle, remember],
  );

  return useMemo(
    () => ({
      has: (runId) => runIds.has(runId),
      add(command) {
        commandIds.current.add(command.runId);
        // A short run may be over before anything of it was drawn.
        void command.then((outcome) => {
          if ("serviceRunId" in outcome) remember(outcome.serviceRunId);
        });
      },
    }),
    [runIds, remember],
  );
}
