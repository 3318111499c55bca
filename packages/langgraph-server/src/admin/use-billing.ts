import { systemClock } from "@throughline/ai-core";
import { createPostgresRunRegistry, migrate, openPostgres } from "@throughline/thread-log";
import { postgresBillingStores } from "../billing/billing-stores.js";
import { keptKeys, openBilling, openOfflineBilling } from "../billing/open-billing.js";
import type { ServiceBilling } from "../billing/service-billing.js";
import type { ServerConfig } from "../config/read-config.js";
import { SERVICE_MIGRATIONS } from "../database/server-migrations.js";
import { noUsage } from "../drive/usage-facts.js";
import { silentObserver } from "../thread/service-observer.js";
import { withDatabaseUrl } from "./with-database-url.js";

/** Billing without the service around it. */
export interface OpenedBilling {
  readonly billing: ServiceBilling;
  /**
   * Keys in the database; `undefined` where no secret to seal them with is configured. Throws `invalid_input` where the
   * secret can't be read.
   */
  keys(): ReturnType<typeof keptKeys>;
}

/** Works on billing beside whatever instances run. */
export function useBilling<Result>(
  config: Pick<
    ServerConfig,
    "databaseUrl" | "databaseDirectUrl" | "dataDir" | "billing" | "defaultModel" | "keySecrets"
  >,
  work: (opened: OpenedBilling) => Promise<Result>,
): Promise<Result> {
  return withDatabaseUrl(config, async (connection) => {
    const database = await openPostgres({ connection, direct: config.databaseDirectUrl });
    try {
      // No instance may have run since billing has tables.
      for (const set of SERVICE_MIGRATIONS) await migrate(database.directPool, database.schema, set);
      const stores = postgresBillingStores(database);
      const context = {
        stores,
        registry: createPostgresRunRegistry(database),
        send: globalThis.fetch,
        defaultModel: config.defaultModel,
        usage: noUsage,
        clock: systemClock,
        observer: silentObserver,
      };
      const billing = config.billing ? openBilling(config.billing, context) : openOfflineBilling(context);
      return await work({ billing, keys: () => keptKeys(config, stores.virtualKeys) });
    } finally {
      await database.close();
    }
  });
}
