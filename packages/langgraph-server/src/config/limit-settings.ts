import { DEFAULT_MAX_CRONS } from "../crons/create-cron-service.js";
import { DEFAULT_LIMITS } from "../tenancy/account-limits.js";
import { setting } from "./setting.js";
import { positiveNumber, wholeNumber } from "./value-schemas.js";

/** What one account may take: named as in `AccountLimits`, and how many crons. */
export const LIMIT_SETTINGS = {
  maxBodyBytes: setting({
    env: "THROUGHLINE_MAX_BODY_BYTES",
    flag: "max-body-bytes",
    group: "limits",
    placeholder: "BYTES",
    doc: "How large a request may be.",
    schema: wholeNumber,
    fallback: DEFAULT_LIMITS.maxBodyBytes,
  }),
  maxContentParts: setting({
    env: "THROUGHLINE_MAX_CONTENT_PARTS",
    flag: "max-content-parts",
    group: "limits",
    placeholder: "COUNT",
    doc: "How many parts the messages of a request may have in all.",
    schema: wholeNumber,
    fallback: DEFAULT_LIMITS.maxContentParts,
  }),
  maxConcurrentRuns: setting({
    env: "THROUGHLINE_MAX_CONCURRENT_RUNS",
    flag: "max-concurrent-runs",
    group: "limits",
    placeholder: "COUNT",
    doc: "How many runs an account may have open at once, on all instances together.",
    schema: wholeNumber,
    fallback: DEFAULT_LIMITS.maxConcurrentRuns,
  }),
  maxWatchers: setting({
    env: "THROUGHLINE_MAX_WATCHERS",
    flag: "max-watchers",
    group: "limits",
    placeholder: "COUNT",
    doc: "How many streams an account may watch at once, with Redis on all instances together.",
    schema: wholeNumber,
    fallback: DEFAULT_LIMITS.maxWatchers,
  }),
  maxStartsPerMinute: setting({
    env: "THROUGHLINE_MAX_STARTS_PER_MINUTE",
    flag: "max-starts-per-minute",
    group: "limits",
    placeholder: "COUNT",
    doc: "How many runs an account may start in a minute, with Redis on all instances together.",
    schema: positiveNumber,
    fallback: DEFAULT_LIMITS.maxStartsPerMinute,
  }),
  maxBodyBytesPerMinute: setting({
    env: "THROUGHLINE_MAX_BODY_BYTES_PER_MINUTE",
    flag: "max-body-bytes-per-minute",
    group: "limits",
    placeholder: "BYTES",
    doc: "How much an account may send in a minute, with Redis to all instances together.",
    schema: positiveNumber,
    fallback: DEFAULT_LIMITS.maxBodyBytesPerMinute,
  }),
  maxEventsPerRun: setting({
    env: "THROUGHLINE_MAX_EVENTS_PER_RUN",
    flag: "max-events-per-run",
    group: "limits",
    placeholder: "COUNT",
    doc: "How many entries one attempt of a run may write to the log before it ends as `too_large`.",
    schema: positiveNumber,
    fallback: DEFAULT_LIMITS.maxEventsPerRun,
  }),
  maxBytesPerRun: setting({
    env: "THROUGHLINE_MAX_BYTES_PER_RUN",
    flag: "max-bytes-per-run",
    group: "limits",
    placeholder: "BYTES",
    doc: "How many bytes one attempt of a run may write to the log before it ends as `too_large`.",
    schema: positiveNumber,
    fallback: DEFAULT_LIMITS.maxBytesPerRun,
  }),
  maxCrons: setting({
    env: "THROUGHLINE_MAX_CRONS",
    flag: "max-crons",
    group: "limits",
    placeholder: "COUNT",
    doc: "How many crons an account may have.",
    schema: wholeNumber,
    fallback: DEFAULT_MAX_CRONS,
  }),
} as const;
