import type { Json } from "@throughline/ai-core";

export interface Progress {
  readonly words: string;
  /** From 0 to 1, where the graph says how far it is. */
  readonly share?: number;
}

/** What a graph tells of its progress, in any of the forms people write: text, a note, step and total, a percentage. */
export function progressOf(told: Json | undefined): Progress | undefined {
  if (typeof told === "string") return { words: told };
  if (typeof told !== "object" || told === null || Array.isArray(told)) return undefined;
  const words = textOf(told.note) ?? textOf(told.message) ?? textOf(told.text) ?? textOf(told.status);
  const step = numberOf(told.step) ?? numberOf(told.current) ?? numberOf(told.done);
  const total = numberOf(told.of) ?? numberOf(told.total);
  const percent = numberOf(told.percent) ?? numberOf(told.progress);
  const share =
    step !== undefined && total !== undefined && total > 0
      ? step / total
      : percent === undefined
        ? undefined
        : percent > 1
          ? percent / 100
          : percent;
  if (words === undefined && share === undefined) return undefined;
  const count = step !== undefined && total !== undefined ? `${step} of ${total}` : "";
  return {
    words: [words, count].filter(Boolean).join(", ") || "Working",
    ...(share !== undefined && { share: Math.min(1, Math.max(0, share)) }),
  };
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
