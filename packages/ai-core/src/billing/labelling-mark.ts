/** In the symbol registry: packages that were installed twice must know each other's mark. */
const MARK = Symbol.for("throughline.metered");

/** Marks a `fetch` that labels requests to LiteLLM, so that no other one labels them again. */
export function markLabelling(labelling: typeof fetch): typeof fetch {
  return Object.defineProperty(labelling, MARK, { value: true });
}

/** Whether requests through this `fetch` are labelled already, or metered. */
export function isLabelling(candidate: typeof fetch): boolean {
  return MARK in candidate;
}
