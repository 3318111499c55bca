"use client";

import { createContext, type ReactNode, useContext, useMemo, useState } from "react";

interface ReplayedRun {
  /** The run that the side panel replays. */
  readonly runId: string | undefined;
  show(runId: string): void;
  hide(): void;
}

const ReplayedRunContext = createContext<ReplayedRun | undefined>(undefined);

/** Returns the replayed run, for components that link to a run and for the panel that replays it. */
export function useReplayedRun(): ReplayedRun {
  const shown = useContext(ReplayedRunContext);
  if (!shown) throw new Error("useShownRun() needs a <ShownRunProvider> above it.");
  return shown;
}

export function ReplayedRunProvider({
  onShow,
  children,
}: {
  /** Called with each run: the panel may be closed. */
  readonly onShow: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const [runId, setRunId] = useState<string>();
  const shown = useMemo<ReplayedRun>(
    () => ({
      runId,
      show(next) {
        setRunId(next);
        onShow();
      },
      hide: () => setRunId(undefined),
    }),
    [runId, onShow],
  );
  return <ReplayedRunContext value={shown}>{children}</ReplayedRunContext>;
}
