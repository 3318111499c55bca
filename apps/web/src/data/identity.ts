/** The account and the person that a page was rendered for. */
export interface Identity {
  readonly account: string;
  readonly subject?: string;
}

/** Header that names the page's identity in each request. The cookie sent with it may be of another sign-in by then. */
export const IDENTITY_HEADER = "x-throughline-signed-in-as";

/** Label of an identity for people. */
export function identityLabel({ account, subject }: Identity): string {
  return subject === undefined ? account : `${account} / ${subject}`;
}

/** Encodes an identity as a header's value, which allows few characters. */
export function identityName({ account, subject }: Identity): string {
  return [account, ...(subject === undefined ? [] : [subject])].map(encodeURIComponent).join("/");
}
