"use client";

import type { SubmittedCommand } from "@throughline/agent-client";
import { useThreadHandle } from "@throughline/agent-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import * as z from "zod/mini";
import { keepText, readKeptText, useKeptText } from "../../design/use-kept-text";

interface OwnRuns {
  /** By the service's own id. */
  has(runId: string): boolean;
  add(command: SubmittedCommand, words?: string): void;
  claim(runId: string): void;
  /** What was answered with it, also before a reload. */
  answerOf(runId: string): string | undefined;
}

const REMEMBERED = 50;

/** Runs that commands of this page started. What they answered is kept in the browser under `storageKey`. */
export function useOwnRuns(storageKey: string): OwnRuns {
  const handle = useThreadHandle();
  const commandIds = useRef(new Map<string, string | undefined>());
  const [kept] = useKeptText(storageKey);
  const answered = useMemo(() => readAnswered(kept), [kept]);
  const [runIds, setRunIds] = useState<ReadonlySet<string>>(new Set());

  const remember = useCallback(
    (runId: string | undefined, words: string | undefined) => {
      if (runId === undefined) return;
      setRunIds((before) => (before.has(runId) ? before : new Set([...before, runId])));
      if (words !== undefined) recordAnswer(storageKey, runId, words);
    },
    [storageKey],
  );

  useEffect(
    () =>
      handle.subscribe(() => {
        const { run } = handle.getSnapshot().view;
        if (run && commandIds.current.has(run.runId))
          remember(run.serviceRunId, commandIds.current.get(run.runId));
      }),
    [handle, remember],
  );

  return useMemo(
    () => ({
      has: (runId) => runIds.has(runId),
      claim: (runId) => remember(runId, undefined),
      answerOf: (runId) => answered.get(runId),
      add(command, words) {
        commandIds.current.set(command.runId, words);
        // A short run may be over before anything of it was drawn.
        void command.then((outcome) => {
          if ("serviceRunId" in outcome) remember(outcome.serviceRunId, words);
        });
      },
    }),
    [runIds, answered, remember],
  );
}

/** Remembers what was answered with a run, for the conversation to say it. */
export function recordAnswer(storageKey: string, runId: string, words: string): void {
  const answered = readAnswered(readKeptText(storageKey));
  if (answered.has(runId)) return;
  keepText(storageKey, JSON.stringify([...answered, [runId, words]].slice(-REMEMBERED)));
}

const answeredSchema = z.array(z.tuple([z.string(), z.string()]));

function readAnswered(text: string | null): ReadonlyMap<string, string> {
  try {
    return new Map(answeredSchema.parse(JSON.parse(text ?? "[]")));
  } catch {
    return new Map();
  }
}
