import {
  type Clock,
  type PartialCallLabels,
  partialCallLabelsSchema,
  systemClock,
  ThroughlineError,
} from "@throughline/ai-core";
import { z } from "zod";
import type { UsageUnit } from "../ledger/ledger.js";
import { type Picodollars, parseCost } from "../ledger/money.js";
import type { LitellmAdmin } from "../litellm/admin.js";

/** An id that a caller may claim. PostgreSQL stores no NUL, so that one such row would end all reading. */
export const claimedId = z.string().regex(/^[\x20-\x7e]{1,256}$/);

/** A row of LiteLLM's log. A retried call has several under one call id. */
export interface SpendFact {
  readonly callId: string;
  /** The provider's id, or the call id of a failure. Not unique. */
  readonly requestId: string;
  readonly status: "success" | "failure";
  /** The unit that the caller's label claims. */
  readonly unitId: string | null;
  /** All that it claims; nothing where that is not of our making. */
  readonly labels: PartialCallLabels;
  readonly keyHash: string;
  readonly spend: Picodollars;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly isCacheHit: boolean;
  readonly errorCode: string | null;
  readonly modelGroup: string | null;
  readonly endedAt: number;
}

/**
 * Whether a row is of a unit. The call id alone does not prove it: a tenant can send another's. The key does, and the label
 * proves that our meter sent it.
 */
export function isFactOf(unit: Pick<UsageUnit, "unitId" | "keyHash">, fact: SpendFact): boolean {
  return fact.callId === unit.unitId && fact.unitId === unit.unitId && fact.keyHash === unit.keyHash;
}

export interface FactBatch {
  readonly facts: readonly SpendFact[];
  /** Reading goes on here. */
  readonly position: string;
}

/** Where LiteLLM's rows are read from. Reading again is harmless. */
export interface SpendSource {
  readonly name: "spend_log" | "logger";
  /** All rows since a position, oldest position first; from the beginning, or as far back as is useful, without one. */
  read(position: string | undefined): AsyncIterable<FactBatch>;
  /** The rows of these units, where they can be asked for. */
  factsOf?(unitIds: readonly string[]): Promise<readonly SpendFact[]>;
  /** Whether a row that is not there is missing for good, rather than on its way or out of reach. */
  isComplete(): Promise<boolean>;
}

const PAGE = 500;
/** Rows are flushed up to 15 s after their call ended. */
const OVERLAP_MS = 120_000;
/** LiteLLM finds rows by when their call started, which is this long before its end at most. */
const LONGEST_CALL_MS = 900_000;
/** A window that is asked for at once. */
const WINDOW_MS = 3_600_000;

const count = z.number().int().nonnegative().nullish().catch(0);
const metadataSchema = z
  .object({
    spend_logs_metadata: z.looseObject({ usageUnitId: claimedId.optional() }).nullish().catch(null),
    error_information: z.object({ error_code: z.string().nullish() }).nullish().catch(null),
  })
  .catch({ spend_logs_metadata: null, error_information: null });

const rowSchema = z.object({
  request_id: z.string(),
  litellm_call_id: z.string().nullish(),
  api_key: z.string(),
  spend: z.unknown(),
  prompt_tokens: count,
  completion_tokens: count,
  status: z.string().nullish(),
  cache_hit: z.string().nullish(),
  model_group: z.string().nullish(),
  endTime: z.string(),
  // jsonb comes as an object, and from some versions as its text.
  metadata: z
    .unknown()
    .transform((value) => metadataSchema.parse(typeof value === "string" ? parse(value) : value)),
});

/** Reads a row of LiteLLM's spend logs; `undefined` for what is none. */
export function readSpendLog(row: unknown): SpendFact | undefined {
  const { success, data } = rowSchema.safeParse(row);
  const spend = success ? parseCost(data.spend) : undefined;
  if (!success || spend === undefined) return undefined;
  return {
    callId: data.litellm_call_id || data.request_id,
    requestId: data.request_id,
    status: data.status === "failure" ? "failure" : "success",
    unitId: data.metadata.spend_logs_metadata?.usageUnitId ?? null,
    labels: partialCallLabelsSchema.catch({}).parse(data.metadata.spend_logs_metadata),
    keyHash: data.api_key,
    spend,
    inputTokens: data.prompt_tokens ?? 0,
    outputTokens: data.completion_tokens ?? 0,
    isCacheHit: data.cache_hit === "True",
    errorCode: data.metadata.error_information?.error_code ?? null,
    modelGroup: data.model_group || null,
    endedAt: Date.parse(/Z|[+-]\d\d:\d\d$/.test(data.endTime) ? data.endTime : `${data.endTime}Z`) || 0,
  };
}

const readinessSchema = z.object({ db: z.literal("connected") });
const pageSchema = z.object({ data: z.array(z.unknown()) });

/**
 * LiteLLM's spend logs, which need its database and the service key. Rows may be missing for good: a killed proxy loses what
 * it had not flushed, and a response id that repeats is stored once.
 */
export function createSpendLogSource({
  admin,
  clock = systemClock,
}: {
  readonly admin: Pick<LitellmAdmin, "read">;
  readonly clock?: Clock;
}): SpendSource {
  /** Rows of calls that started until `to` and ended since `from`, the last to end first. */
  async function readWindow(from: number, to: number): Promise<readonly SpendFact[]> {
    const facts: SpendFact[] = [];
    for (let page = 1; ; page++) {
      const { data } = pageSchema.parse(
        await admin.read("/spend/logs/v2", {
          start_date: toUtc(from - LONGEST_CALL_MS),
          end_date: toUtc(to),
          sort_by: "endTime",
          sort_order: "desc",
          page: String(page),
          page_size: String(PAGE),
        }),
      );
      const read = data.flatMap((row) => readSpendLog(row) ?? []);
      facts.push(...read);
      // LiteLLM counts 10,000 rows at most, so its number of pages is not the end.
      const isLast = data.length < PAGE || (read.at(-1)?.endedAt ?? from) < from;
      if (isLast) return facts;
    }
  }

  return {
    name: "spend_log",
    async *read(position) {
      const now = clock.now();
      const since = position === undefined ? now - WINDOW_MS : Number(position) - OVERLAP_MS;
      for (let from = since; from < now; from += WINDOW_MS) {
        const to = Math.min(now, from + WINDOW_MS);
        yield { facts: await readWindow(from, to), position: String(to) };
      }
    },
    async factsOf(unitIds) {
      const facts: SpendFact[] = [];
      for (const unitId of unitIds) {
        // Matches the call id too, and gives all rows of it.
        const rows = z.array(z.unknown()).parse(await admin.read("/spend/logs", { request_id: unitId }));
        facts.push(...rows.flatMap((row) => readSpendLog(row) ?? []));
      }
      return facts;
    },
    async isComplete() {
      const health = await admin.read("/health/readiness").catch((error: unknown) => {
        // Without its database LiteLLM answers 503.
        if (error instanceof ThroughlineError && error.code === "upstream_unavailable") return undefined;
        throw error;
      });
      return readinessSchema.safeParse(health).success;
    },
  };
}

/** The one form that `/spend/logs/v2` takes: `2026-11-17 09:30:00`, in UTC. */
function toUtc(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replace("T", " ");
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
