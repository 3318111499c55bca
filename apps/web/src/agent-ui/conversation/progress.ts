import type { Json } from "@throughline/ai-core";

export interface Progress {
  readonly words: string;
  /** From 0 to 1, where the graph reports it. */
  readonly share?: number;
}

/** Reads the progress that a graph reports, in any common form: text, a note, step and total, a percentage. */
export function progressOf(reported: Json | undefined): Progress | undefined {
  if (typeof reported === "string") return { words: reported };
  if (typeof reported !== "object" || reported === null || Array.isArray(reported)) return undefined;
  const words =
    textOf(reported.note) ?? textOf(reported.message) ?? textOf(reported.text) ?? textOf(reported.status);
  const step = numberOf(reported.step) ?? numberOf(reported.current) ?? numberOf(reported.done);
  const total = numberOf(reported.of) ?? numberOf(reported.total);
  const percent = numberOf(reported.percent) ?? numberOf(reported.progress);
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
