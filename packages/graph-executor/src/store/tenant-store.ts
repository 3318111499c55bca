import {
  BaseStore,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import type { Caller } from "@throughline/ai-core";

type Tenant = Pick<Caller, "billingAccountId" | "subject">;

/**
 * The namespace prefix of a caller's data. A subject's part is next to the account's shared part, never below it. The last
 * label ends in `~`, which no other character of it can be: some stores search by text, where `@ann` would find `@anna` too.
 */
export function tenantNamespace({ billingAccountId, subject }: Tenant): readonly string[] {
  return [escapeLabel(billingAccountId), subject === undefined ? "shared~" : `@${escapeLabel(subject)}~`];
}

/** The subject in the second label of a namespace; `undefined` for the account's shared part. */
export function subjectOf(label: string): string | undefined {
  return label.startsWith("@") ? unescapeLabel(label.slice(1, -1)) : undefined;
}

/**
 * A LangGraph store that a graph can't leave: every namespace it names is below the caller's own, and it sees
 * namespaces as if there were nothing above. The graph is given this and never the store inside.
 */
export function tenantStore(store: BaseStore, tenant: Tenant): BaseStore {
  return new TenantStore(store, tenantNamespace(tenant));
}

class TenantStore extends BaseStore {
  readonly #inner: BaseStore;
  readonly #prefix: readonly string[];

  constructor(inner: BaseStore, prefix: readonly string[]) {
    super();
    this.#inner = inner;
    this.#prefix = prefix;
  }

  /** The one method every other goes through, LangGraph's own batching included. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const results: readonly unknown[] = await this.#inner.batch(
      operations.map((operation) => this.#inwards(operation)),
    );
    const own = results.map((result, index) => this.#outwards(result, operations[index]));
    // One result per operation, of its kind: the inner store promised it, and a map can't repeat the promise.
    return own as OperationResults<Op>;
  }

  #inwards(operation: Operation): Operation {
    if (isListNamespaces(operation)) return this.#inwardsList(operation);
    if (isSearch(operation)) {
      return { ...operation, namespacePrefix: this.#below(operation.namespacePrefix) };
    }
    return { ...operation, namespace: this.#below(operation.namespace) };
  }

  #below(labels: readonly string[]): string[] {
    return [...this.#prefix, ...labels.map(escapeLabel)];
  }

  #inwardsList(operation: ListNamespacesOperation): ListNamespacesOperation {
    const own: MatchCondition = { matchType: "prefix", path: [...this.#prefix] };
    const asked = (operation.matchConditions ?? []).map((condition) =>
      condition.matchType === "prefix"
        ? { ...condition, path: this.#below(condition.path) }
        : { ...condition, path: condition.path.map(escapeLabel) },
    );
    return {
      ...operation,
      matchConditions: [own, ...asked],
      ...(operation.maxDepth !== undefined && { maxDepth: operation.maxDepth + this.#prefix.length }),
    };
  }

  #outwards(result: unknown, operation: Operation | undefined): unknown {
    if (operation !== undefined && isListNamespaces(operation) && Array.isArray(result)) {
      return result
        .filter((namespace) => isNamespace(namespace) && this.#isOwn(namespace))
        .map((namespace) => this.#strip(namespace));
    }
    if (Array.isArray(result)) {
      return result
        .filter((item) => !isItem(item) || this.#isOwn(item.namespace))
        .map((item) => (isItem(item) ? this.#outwardsItem(item) : item));
    }
    return isItem(result) ? this.#outwardsItem(result) : result;
  }

  #outwardsItem(item: Item): Item {
    return { ...item, namespace: this.#strip(item.namespace) };
  }

  /** A store that searches by pattern takes the `_` of one account's name for any character of another's. */
  #isOwn(namespace: readonly string[]): boolean {
    return this.#prefix.every((label, index) => namespace[index] === label);
  }

  #strip(namespace: readonly string[]): string[] {
    return namespace.slice(this.#prefix.length).map(unescapeLabel);
  }
}

function isSearch(operation: Operation): operation is SearchOperation {
  return "namespacePrefix" in operation;
}

function isListNamespaces(operation: Operation): operation is ListNamespacesOperation {
  return !("namespacePrefix" in operation) && !("namespace" in operation);
}

function isNamespace(value: unknown): value is string[] {
  return Array.isArray(value);
}

function isItem(value: unknown): value is Item {
  return typeof value === "object" && value !== null && "namespace" in value && isNamespace(value.namespace);
}

/** Any label, where a match may name it. */
const WILDCARD = "*";

/**
 * Stores join labels by `.` or `:`, and one that searches by pattern takes no `_` or `%`; people and graphs use all of
 * them. So a label is escaped byte by byte, reversibly.
 */
function escapeLabel(text: string): string {
  if (text === WILDCARD) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => {
    const character = String.fromCharCode(byte);
    return /[A-Za-z0-9-]/.test(character) ? character : `=${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}

export function unescapeLabel(label: string): string {
  const bytes = label.replaceAll(/=([0-9a-f]{2})/g, "%$1");
  return decodeURIComponent(bytes);
}
