import type { KeyRing, KeyStore } from "@throughline/billing";
import type { ServerConfig } from "../config/read-config.js";
import type { ServiceBilling } from "./service-billing.js";

export interface CliBilling {
  readonly billing: ServiceBilling;
  /** Keys in the database; absent where no secret to seal them with is configured. */
  readonly keys?: { readonly store: KeyStore; readonly ring: KeyRing };
  close(): Promise<void>;
}

/** Billing without the service around it. */
export async function openBillingForCli(_config: ServerConfig): Promise<CliBilling> {
  throw new Error("Billing is not wired in yet.");
}
