/**
 * R32: a graph's `configurable` carries a key's id, never the key, because LangGraph writes `configurable` into
 * checkpoints. The token is fetched as a request is sent and kept by nothing that a graph can reach.
 */
export interface KeyResolver {
  /**
   * Gives the provider token of a virtual key, or throws a `ThroughlineError` (`unauthorized`) that names the id. With an
   * account, a key of another account is refused, and a resolver that makes keys makes this account's.
   */
  resolveKey(virtualKeyId: string, billingAccountId?: string): Promise<string>;
}
