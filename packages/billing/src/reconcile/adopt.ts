import { type CallLabels, callLabelsSchema, type KeyResolver, ThroughlineError } from "@throughline/ai-core";
import { hashKey } from "../keys/resolvers.js";
import { type LedgerStore, type NewUnit, NO_USAGE_SEEN } from "../ledger/ledger.js";
import { isFactOf, type SpendFact } from "./spend-log.js";

/**
 * Gives the unit that a labelled call would be by what we know of its run: whose it is, and which key it has. `undefined` where
 * there is no such run, or no such key. Labels are a claim, so the answer must not be copied from them.
 */
export type AttributeCall = (labels: CallLabels) => Promise<NewUnit | undefined>;

/** A run as a registry knows it. */
export interface AttributableRun
  extends Pick<NewUnit, "runId" | "account" | "subject" | "virtualKeyId" | "threadId" | "graphId"> {}

/** Attributes calls to the runs that are registered, with the keys that these have. */
export function createAdoption({
  findRun,
  keys,
}: {
  readonly findRun: (labels: CallLabels) => Promise<AttributableRun | undefined>;
  readonly keys: KeyResolver;
}): AttributeCall {
  return async (labels) => {
    const run = await findRun(labels);
    const token = run && (await keyOf(keys, run));
    if (!run || token === undefined) return undefined;
    return {
      ...run,
      unitId: labels.usageUnitId,
      attempt: labels.attempt,
      ordinal: 0,
      keyHash: hashKey(token),
      requestId: labels.requestId,
      traceId: labels.traceId,
      executorType: "langgraph_server",
      model: null,
    };
  };
}

async function keyOf(
  keys: KeyResolver,
  { virtualKeyId, account }: AttributableRun,
): Promise<string | undefined> {
  try {
    return await keys.resolveKey(virtualKeyId, account);
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === "unauthorized") return undefined;
    throw error;
  }
}

export interface Adopted {
  /** Units that are in the ledger now. */
  readonly unitIds: readonly string[];
  /** Rows whose labels claim a run of ours, and are wrong. */
  readonly refused: ReadonlySet<SpendFact>;
}

/**
 * Opens units for calls that LangGraph servers labelled, of which the ledger knows nothing: no meter is there. Charging them is
 * left to the ordinary way. Safe to repeat: a unit's id is its call's.
 */
export async function attributeCalls(
  facts: readonly SpendFact[],
  { ledger, adopt }: { readonly ledger: Pick<LedgerStore, "open" | "doubt">; readonly adopt: AttributeCall },
): Promise<Adopted> {
  const adopted = new Set<string>();
  const refused = new Set<SpendFact>();
  for (const fact of facts) {
    const { data: labels } = callLabelsSchema.safeParse(fact.labels);
    if (labels?.executorType !== "langgraph_server" || adopted.has(fact.callId)) continue;
    const unit = await adopt(labels);
    if (!unit || !agrees(unit, labels) || !isFactOf(unit, fact)) {
      refused.add(fact);
      continue;
    }
    await ledger.open(unit);
    // Its call is over: a failure without a price needs no longer wait than that of a metered one.
    await ledger.doubt(unit.unitId, "not_metered", NO_USAGE_SEEN);
    adopted.add(unit.unitId);
  }
  return { unitIds: [...adopted], refused };
}

/** Whether the run that is claimed is the one that pays. */
function agrees(unit: NewUnit, labels: CallLabels): boolean {
  return (
    unit.unitId === labels.usageUnitId &&
    unit.runId === labels.runId &&
    unit.account === labels.accountId &&
    unit.virtualKeyId === labels.virtualKeyId &&
    unit.executorType === labels.executorType
  );
}
