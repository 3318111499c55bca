import { DEFAULT_RETENTION } from "../operations/retention-sweeper.js";
import { setting } from "./setting.js";
import { wholeNumber } from "./value-schemas.js";

const DAY_MS = 86_400_000;

/** R20: how much of each thread's log is kept, and in what form. */
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
    schema: wholeNumber.refine((days) => days <= 36_500, "takes at most 36500 days"),
    fallback: (DEFAULT_RETENTION.maxAgeMs ?? 0) / DAY_MS,
  }),
  compactAfterDays: setting({
    env: "THROUGHLINE_COMPACT_AFTER_DAYS",
    flag: "compact-after-days",
    group: "storage",
    placeholder: "DAYS",
    doc: "How many days after a run's end the pieces of each of its messages become one entry; 0 keeps every piece.",
    schema: wholeNumber.refine((days) => days <= 36_500, "takes at most 36500 days"),
    fallback: (DEFAULT_RETENTION.compactAfterMs ?? 0) / DAY_MS,
  }),
} as const;
