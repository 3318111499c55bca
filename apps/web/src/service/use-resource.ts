"use client";

import { useCallback, useEffect, useRef, useState } from "react";

export interface Resource<T> {
  /** The newest answer; kept while a newer one is asked for, and when that fails. */
  readonly value: T | undefined;
  readonly problem: Error | undefined;
  readonly isLoading: boolean;
  refresh(): void;
}

interface Options {
  /** Asks again this often while somebody looks at the page. */
  readonly everyMs?: number;
}

/** What `ask` gives. Asked anew when `key` changes; an answer to an older key never shows. `undefined`: nothing to ask. */
export function useResource<T>(
  key: string | undefined,
  ask: (signal: AbortSignal) => Promise<T>,
  { everyMs }: Options = {},
): Resource<T> {
  const [state, setState] = useState<{ key: string | undefined; value?: T; problem?: Error }>({ key });
  const [round, setRound] = useState(0);
  const newest = useRef(ask);
  newest.current = ask;
  const isAsking = useRef(false);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a round asks again for the same key
  useEffect(() => {
    if (key === undefined) return;
    const leaving = new AbortController();
    isAsking.current = true;
    newest.current(leaving.signal).then(
      (value) => {
        if (leaving.signal.aborted) return;
        isAsking.current = false;
        setState({ key, value });
      },
      (error: unknown) => {
        if (leaving.signal.aborted) return;
        isAsking.current = false;
        const problem = error instanceof Error ? error : new Error(String(error));
        setState((before) => (before.key === key ? { ...before, problem } : { key, problem }));
      },
    );
    return () => leaving.abort();
  }, [key, round]);

  useEffect(() => {
    if (everyMs === undefined) return;
    // A slow answer is waited for: asking anew would take it back, and with a slow service none would ever come.
    const again = () => {
      if (document.visibilityState === "visible" && !isAsking.current) setRound((before) => before + 1);
    };
    // Not all at the same moment, whoever opened their pages together.
    const timer = setInterval(again, everyMs * (0.9 + 0.2 * Math.random()));
    document.addEventListener("visibilitychange", again);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
    };
  }, [everyMs]);

  const refresh = useCallback(() => setRound((before) => before + 1), []);
  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : undefined,
    problem: isCurrent ? state.problem : undefined,
    isLoading:
      key !== undefined && (!isCurrent || (state.value === undefined && state.problem === undefined)),
    refresh,
  };
}
