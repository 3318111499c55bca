import type { UnresolvedPolicy } from "@throughline/billing";

/** Where models are called and who pays: settings, checked. */
export interface BillingOptions {
  /** LiteLLM's address. */
  readonly baseUrl: string;
  /** For what no tenant may do: prices, making keys, reading spend logs; and for the calls of the system tenant. */
  readonly serviceKey: string;
  /** A JSON object of key id to token. */
  readonly virtualKeys?: string | undefined;
  /** What keys in the database are sealed with, as `ID:SECRET` pairs; without it none are kept there. */
  readonly keySecrets?: string | undefined;
  /** An account's key is made when it first calls a model. */
  readonly makesKeys: boolean;
  /** Whether an account's calls are made with the service key. */
  readonly isSystemAccount: (account: string) => boolean;
  /** The file of LiteLLM's logger; its spend logs are asked for where absent. */
  readonly spendLog?: string | undefined;
  /** How often calls without a price are looked up; never where absent. */
  readonly reconcileEveryMs?: number | undefined;
  readonly policyOf: (account: string) => UnresolvedPolicy;
}
