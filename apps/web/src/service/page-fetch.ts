import { IDENTITY_HEADER, type Identity, identityName } from "./identity";

/** Who the browser is signed in as, where that is not who this page is of. */
export interface OtherSignIn {
  readonly signedInAs: string;
}

let identity: Identity | undefined;
let other: OtherSignIn | undefined;
const listeners = new Set<() => void>();

/** Called once, in the browser, before the page asks for anything. */
export function setPageIdentity(rendered: Identity): void {
  identity = rendered;
}

/** As `fetch`, for all that a page asks of the console: names who the page is of. */
export async function pageFetch(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (identity) headers.set(IDENTITY_HEADER, identityName(identity));
  const answer = await fetch(input, { ...init, headers });
  if (answer.status === 401) await notice(answer.clone());
  return answer;
}

async function notice(answer: Response): Promise<void> {
  const said: { code?: unknown; details?: { signedInAs?: unknown } } | null = await answer
    .json()
    .catch(() => null);
  if (said?.code !== "signed_in_as_other") return;
  other = { signedInAs: String(said.details?.signedInAs ?? "another account") };
  for (const listener of [...listeners]) listener();
}

export const otherSignIn = {
  getSnapshot: () => other,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
