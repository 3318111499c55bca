"use client";

import type { SubmittedCommand } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

interface OwnRuns {
  /** By the service's own id. */
  has(runId: string): boolean;
  add(command: SubmittedCommand): void;
  claim(runId: string): void;
}

/** Runs that commands of this page started. */
export function useOwnRuns(): OwnRuns {
  const handle = useThreadHandle();
  const commandIds = useRef(new Set<string>());
  const [runIds, setRunIds] = useState<ReadonlySet<string>>(new Set());

  const claim = useCallback((runId: string | undefined) => {
    if (runId === undefined) return;
    setRunIds((before) => (before.has(runId) ? before : new Set([...before, runId])));
  }, []);

  useEffect(
    () =>
      handle.subscribe(() => {
        const { run } = handle.getSnapshot().view;
        if (run && commandIds.current.has(run.runId)) claim(run.serviceRunId);
      }),
    [handle, claim],
  );

  return useMemo(
    () => ({
      has: (runId) => runIds.has(runId),
      claim,
      add(command) {
        commandIds.current.add(command.runId);
        // A short run may be over before anything of it was drawn.
        void command.then((outcome) => {
          if ("serviceRunId" in outcome) claim(outcome.serviceRunId);
        });
      },
    }),
    [runIds, claim],
  );
}
