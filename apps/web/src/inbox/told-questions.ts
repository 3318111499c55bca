import * as z from "zod/mini";
import { readStored, store } from "../design/browser-storage";

const KEY = "throughline:told";
const toldSchema = z.object({ account: z.string(), questions: z.array(z.string()) });

/** Questions that this browser told a person of; `undefined`: of none yet. */
export function readTold(account: string): readonly string[] | undefined {
  try {
    const told = toldSchema.parse(JSON.parse(readStored(KEY) ?? ""));
    return told.account === account ? told.questions : undefined;
  } catch {
    return undefined;
  }
}

export function keepTold(account: string, questions: readonly string[]): void {
  store(KEY, JSON.stringify({ account, questions }));
}

/** With the next notification it begins anew. */
export function forgetTold(): void {
  store(KEY, null);
}
