import { randomUUID } from "node:crypto";
import {
  type KeyResolver,
  labelRequest,
  markLabelling,
  outsideOfRun,
  refuseCall,
  requestTarget,
} from "@throughline/ai-core";
import { UNNAMED_KEY_ID } from "./key-resolver.js";
import type { RunLabels } from "./run-labels.js";

export interface LabelledFetchOptions {
  /** LiteLLM's address. POSTs to its origin are labelled. */
  readonly baseUrl: string;
  readonly keys: KeyResolver;
  /** The run that a request is made in; `undefined` outside of any. */
  readonly currentLabels: () => RunLabels | undefined;
  readonly send: typeof fetch;
}

/**
 * A `fetch` for processes without a ledger: it gives every call to LiteLLM the run's key and labels under an id of its own,
 * by which reconciliation finds and charges it. What belongs to no run, or has no key, is refused by an answer that client
 * libraries don't take for a broken connection. Other hosts are left alone.
 */
export function createLabelledFetch(options: LabelledFetchOptions): typeof fetch {
  const { keys, currentLabels, send } = options;
  const { origin } = new URL(options.baseUrl);

  async function label(own: Headers): Promise<Headers> {
    const run = currentLabels();
    if (!run) throw outsideOfRun();
    const token = await keys.resolveKey(run.virtualKeyId ?? UNNAMED_KEY_ID, run.accountId);
    return labelRequest(own, { token, labels: { ...run, usageUnitId: randomUUID() } });
  }

  return markLabelling(async (input, init) => {
    const { method, url } = requestTarget(input, init);
    if (method !== "POST" || url.origin !== origin) return send(input, init);
    const own = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    let headers: Headers;
    try {
      headers = await label(own);
    } catch (error) {
      return refuseCall(error).response;
    }
    return send(input, { ...init, headers });
  });
}
