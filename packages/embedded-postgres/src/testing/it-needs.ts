import { it } from "vitest";

/** `missing` says what is not there. A laptop may lack it and skips; CI that lacks it has not tested what it claims. */
export function itNeeds(missing: string | undefined): typeof it | typeof it.skip {
  if (missing === undefined) return it;
  if (process.env.CI === "true") throw new Error(missing);
  console.warn(`Skipped: ${missing}`);
  return it.skip;
}

export const rootIsMissing: string | undefined =
  process.getuid?.() === 0 ? undefined : "this test changes users, which only root can do.";
