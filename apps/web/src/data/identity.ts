/** The account and the person that a page was rendered for. */
export interface Identity {
  readonly account: string;
  readonly subject?: string;
}

/** Names the identity in each request of a page. The cookie that goes along may be another's by then. */
export const IDENTITY_HEADER = "x-throughline-signed-in-as";

/** What people read. */
export function identityLabel({ account, subject }: Identity): string {
  return subject === undefined ? account : `${account} / ${subject}`;
}

/** As a header's value, which has no room for most letters. */
export function identityName({ account, subject }: Identity): string {
  return [account, ...(subject === undefined ? [] : [subject])].map(encodeURIComponent).join("/");
}
