import type { Json } from "@throughline/ai-core";
import type { Hands, Step } from "./hands.js";

export interface AnsweredRow {
  /** What the shape is called where shapes are listed. */
  readonly row: number;
  readonly agent: string;
  readonly say?: string;
  readonly hands: Hands;
  /** What a person sees: words, and controls by role and name. */
  readonly words: readonly string[];
  readonly controls: readonly (readonly [
    role: "button" | "textbox" | "radio" | "checkbox" | "combobox" | "group" | "link",
    name: string,
  ])[];
  /** An answer that can't be right, and what the page says to it. */
  readonly wrong?: { readonly steps: readonly Step[]; readonly words: readonly string[] };
  readonly steps: readonly Step[];
  /** What the graph is given. */
  readonly given: Json;
  /** What the conversation says of it. */
  readonly said: string;
}

export const NEEDED = "This needs an answer.";
export const NOT_A_NUMBER = "This must be a number.";
