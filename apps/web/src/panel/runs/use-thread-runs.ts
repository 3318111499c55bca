"use client";

import { useThreadHandle } from "@throughline/agent-react";
import { useRef } from "react";
import { useRefreshOnRun } from "../../conversation/settled/use-refresh-on-run";
import { useThreadLog } from "../../inspector/use-thread-log";
import type { Resource } from "../../service/queries/resource";
import { type Run, useRuns } from "../../service/queries/runs";
import { indexRuns, type RunIndex } from "./index-runs";

export interface ThreadRuns extends Resource<readonly Run[]> {
  /** What the log says of each. */
  readonly index: RunIndex;
}

/** The thread's runs, newest first, with what the log says of them. */
export function useThreadRuns(): ThreadRuns {
  const handle = useThreadHandle();
  const runs = useRuns(handle);
  useRefreshOnRun(runs.refresh);
  const log = useThreadLog();
  const before = useRef<RunIndex>(undefined);
  // A cache of a pure function, so that a long log is not read again with each token.
  const index = indexRuns(before.current, log);
  before.current = index;
  return { ...runs, index };
}
