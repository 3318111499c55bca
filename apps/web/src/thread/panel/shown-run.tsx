"use client";

import { createContext, type ReactNode, useContext, useMemo, useState } from "react";

interface ShownRun {
  /** The run that the side panel shows again. */
  readonly runId: string | undefined;
  show(runId: string): void;
  hide(): void;
}

const ShownRunContext = createContext<ShownRun | undefined>(undefined);

/** For whatever names a run, and for the panel that shows it again. */
export function useShownRun(): ShownRun {
  const shown = useContext(ShownRunContext);
  if (!shown) throw new Error("useShownRun() needs a <ShownRunProvider> above it.");
  return shown;
}

export function ShownRunProvider({
  onShow,
  children,
}: {
  /** The panel may be closed. */
  readonly onShow: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const [runId, setRunId] = useState<string>();
  const shown = useMemo<ShownRun>(
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
  return <ShownRunContext value={shown}>{children}</ShownRunContext>;
}
