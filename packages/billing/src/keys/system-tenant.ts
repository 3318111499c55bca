import type { KeyResolver } from "@throughline/ai-core";

/**
 * Gives the service key to the accounts that are named as the system tenant, and to no other: everyone else's calls carry a
 * key of their own. Under dev sign-in these are the dev accounts, so that one key serves a laptop.
 */
export function withSystemTenant(
  keys: KeyResolver,
  {
    isSystemAccount,
    serviceKey,
  }: { readonly isSystemAccount: (account: string) => boolean; readonly serviceKey: string },
): KeyResolver {
  return {
    async resolveKey(virtualKeyId, account) {
      if (account !== undefined && isSystemAccount(account)) return serviceKey;
      return keys.resolveKey(virtualKeyId, account);
    },
  };
}
