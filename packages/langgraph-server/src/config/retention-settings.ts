import { DEFAULT_RETENTION } from "../operations/retention-sweeper.js";
import { setting } from "./setting.js";
import { wholeNumber } from "./value-schemas.js";

const DAY_MS = 86_400_000;
const days = wholeNumber.refine((count) => count <= 36_500, "takes at most 36500 days");

/** R20: how much of each thread is kept, for how long, and in what form. */
export const RETENTION_SETTINGS = {
  retentionMaxEntries: setting({
    env: "THROUGHLINE_RETENTION_MAX_ENTRIES",
    flag: "retention-max-entries",
    group: "storage",
    placeholder: "COUNT",
    doc: "How many entries of a thread's log are kept; 0 keeps all.",
    schema: wholeNumber,
    fallback: DEFAULT_RETENTION.maxEntries ?? 0,
  }),
  retentionMaxBytes: setting({
    env: "THROUGHLINE_RETENTION_MAX_BYTES",
    flag: "retention-max-bytes",
    group: "storage",
    placeholder: "BYTES",
    doc: "How many bytes of a thread's log are kept; 0 keeps all.",
    schema: wholeNumber,
    fallback: DEFAULT_RETENTION.maxBytes ?? 0,
  }),
  retentionMaxAgeDays: setting({
    env: "THROUGHLINE_RETENTION_MAX_AGE_DAYS",
    flag: "retention-max-age-days",
    group: "storage",
    placeholder: "DAYS",
    doc: "How old entries of a log may become, and how long a run that has ended is known; 0 keeps all.",
    schema: days,
    fallback: (DEFAULT_RETENTION.maxAgeMs ?? 0) / DAY_MS,
  }),
  compactAfterDays: setting({
    env: "THROUGHLINE_COMPACT_AFTER_DAYS",
    flag: "compact-after-days",
    group: "storage",
    placeholder: "DAYS",
    doc: "How many days after a run's end the pieces of each of its messages become one entry; 0 keeps every piece.",
    schema: days,
    fallback: (DEFAULT_RETENTION.compactAfterMs ?? 0) / DAY_MS,
  }),
  retentionCheckpoints: setting({
    env: "THROUGHLINE_RETENTION_CHECKPOINTS",
    flag: "retention-checkpoints",
    group: "storage",
    placeholder: "COUNT",
    doc: "How many of a thread's newest checkpoints are kept; 0 keeps all.",
    schema: wholeNumber,
    fallback: DEFAULT_RETENTION.checkpoints?.keepNewest ?? 0,
  }),
  retentionCheckpointDays: setting({
    env: "THROUGHLINE_RETENTION_CHECKPOINT_DAYS",
    flag: "retention-checkpoint-days",
    group: "storage",
    placeholder: "DAYS",
    doc: "Checkpoints younger than this are kept beyond that count; 0 lets the count alone decide.",
    schema: days,
    fallback: (DEFAULT_RETENTION.checkpoints?.keepYoungerMs ?? 0) / DAY_MS,
  }),
  retentionReceiptDays: setting({
    env: "THROUGHLINE_RETENTION_RECEIPT_DAYS",
    flag: "retention-receipt-days",
    group: "storage",
    placeholder: "DAYS",
    doc: "How long the receipt of a deletion is kept after its end; 0 keeps all.",
    schema: days,
    fallback: (DEFAULT_RETENTION.receiptAgeMs ?? 0) / DAY_MS,
  }),
} as const;
