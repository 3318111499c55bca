import type { Caller, JsonObject } from "@throughline/ai-core";
import { toPlainObject } from "@throughline/coerce";
import type { GraphStore } from "./graph-store.js";
import { subjectOf, tenantNamespace, tenantStore, unescapeLabel } from "./tenant-store.js";

type Tenant = Pick<Caller, "billingAccountId" | "subject">;

export interface StoreItem {
  readonly namespace: readonly string[];
  readonly key: string;
  readonly value: JsonObject;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface StoreItems {
  /** Lists a tenant's items below a namespace. */
  list(
    tenant: Tenant,
    page: { readonly prefix: readonly string[]; readonly limit: number; readonly offset: number },
  ): Promise<readonly StoreItem[]>;
  /**
   * Everything of an account, or of one subject of it, the empty one being the shared part. Read in pages, newest first: one
   * that is changed meanwhile may come twice.
   */
  every(
    account: string,
    subject?: string,
  ): AsyncIterable<StoreItem & { readonly subject: string | undefined }>;
  /** `false` when there was none. */
  delete(tenant: Tenant, namespace: readonly string[], key: string): Promise<boolean>;
  /** Everything of an account, or of one subject of it, the empty one being the shared part. Gives how many there were. */
  deleteAccount(account: string, subject?: string): Promise<number>;
}

const PAGE = 100;

export function createStoreItems({ store }: GraphStore): StoreItems {
  /** Stores search by text prefix, which also finds namespaces below and names that begin alike. */
  async function keysIn(namespace: readonly string[]): Promise<readonly string[]> {
    const keys: string[] = [];
    for (let offset = 0; ; offset += PAGE) {
      const page = await store.search([...namespace], { limit: PAGE, offset });
      keys.push(...page.filter((item) => isSame(item.namespace, namespace)).map(({ key }) => key));
      if (page.length < PAGE) return keys;
    }
  }

  async function namespacesOf(account: string, subject?: string): Promise<readonly string[][]> {
    const whole = tenantNamespace({ billingAccountId: account, ...(subject && { subject }) });
    const scope = subject === undefined ? whole.slice(0, 1) : whole;
    const found = await store.listNamespaces({ prefix: [...scope], limit: Number.MAX_SAFE_INTEGER });
    return found.filter((labels) => isSame(labels.slice(0, scope.length), scope));
  }

  return {
    async list(tenant, { prefix, limit, offset }) {
      const found = await tenantStore(store, tenant).search([...prefix], { limit, offset });
      return found.map(({ namespace, key, value, createdAt, updatedAt }) => ({
        namespace,
        key,
        value: toPlainObject(value),
        createdAt,
        updatedAt,
      }));
    },
    async delete(tenant, namespace, key) {
      const own = tenantStore(store, tenant);
      if ((await own.get([...namespace], key)) === null) return false;
      await own.delete([...namespace], key);
      return true;
    },
    async *every(account, subject) {
      const subjects = new Set(
        (await namespacesOf(account, subject)).map(([, label = ""]) => subjectOf(label)),
      );
      for (const one of subjects) {
        const prefix = tenantNamespace({
          billingAccountId: account,
          ...(one !== undefined && { subject: one }),
        });
        for (let offset = 0, isOver = false; !isOver; offset += PAGE) {
          const page = await store.search([...prefix], { limit: PAGE, offset });
          for (const { namespace, key, value, createdAt, updatedAt } of page) {
            if (!isSame(namespace.slice(0, prefix.length), prefix)) continue;
            const own = namespace.slice(prefix.length).map(unescapeLabel);
            yield { subject: one, namespace: own, key, value: toPlainObject(value), createdAt, updatedAt };
          }
          isOver = page.length < PAGE;
        }
      }
    },
    async deleteAccount(account, subject) {
      let deleted = 0;
      for (const namespace of await namespacesOf(account, subject)) {
        for (const key of await keysIn(namespace)) {
          await store.delete(namespace, key);
          deleted += 1;
        }
      }
      return deleted;
    },
  };
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((label, index) => label === b[index]);
}
