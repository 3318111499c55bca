"use client";

import type { ThreadName } from "@throughline/agent-client";
import type { Json } from "@throughline/ai-core";
import { useCallback, useMemo } from "react";
import * as z from "zod/mini";
import { useDrafts } from "../composer/drafts";
import { useKeptText } from "../design/use-kept-text";
import type { RowDraft } from "./approval-rows";

const rowSchema = z.object({
  verb: z.optional(z.string()),
  fields: z.optional(z.record(z.string(), z.union([z.string(), z.boolean()]))),
  json: z.optional(z.string()),
  words: z.optional(z.string()),
});
const keptSchema = z.record(
  z.string(),
  z.object({ chosen: z.optional(z.json()), rows: z.optional(z.array(rowSchema)) }),
);

/** What was decided about a question and not sent yet. */
export interface KeptAnswer {
  readonly chosen?: Json | undefined;
  readonly rows?: readonly RowDraft[] | undefined;
}
export type KeptAnswers = Readonly<Record<string, KeptAnswer>>;

interface KeptAnswersHold {
  readonly kept: KeptAnswers;
  change(id: string, more: KeptAnswer): void;
  /** These were sent, or are asked no more. */
  forget(ids: readonly string[]): void;
}

/** Half-made decisions of a thread, by question: kept with its drafts, so they outlive a reload and show in other tabs. */
export function useKeptAnswers(thread: ThreadName): KeptAnswersHold {
  const [text, setText] = useKeptText(`${useDrafts().keyOf(thread)}:answers`);
  const kept = useMemo(() => readKept(text), [text]);
  const write = useCallback(
    (next: KeptAnswers) => setText(Object.keys(next).length === 0 ? null : JSON.stringify(next)),
    [setText],
  );
  return {
    kept,
    change: (id, more) => write({ ...kept, [id]: { ...kept[id], ...more } }),
    forget: (ids) => write(Object.fromEntries(Object.entries(kept).filter(([id]) => !ids.includes(id)))),
  };
}

function readKept(text: string | null): KeptAnswers {
  try {
    return keptSchema.parse(JSON.parse(text ?? "{}"));
  } catch {
    return {};
  }
}
