import { DEFAULT_MAX_DRIVEN } from "../drive/driving-room.js";
import { INSTANCE_ROLES } from "../service/instance-role.js";
import { setting } from "./setting.js";
import { oneOf, positiveNumber, processCount, someOf, wholeNumber } from "./value-schemas.js";

/** How the server runs and stops. */
export const RUNNING_SETTINGS = {
  logLevel: setting({
    env: "THROUGHLINE_LOG_LEVEL",
    flag: "log-level",
    group: "running",
    placeholder: "LEVEL",
    doc: "How much is logged: `silent`, `error`, `warn`, `info` or `debug`.",
    schema: oneOf("silent", "error", "warn", "info", "debug"),
    fallback: "info",
    unset: "`info`; `warn` in a terminal",
  }),
  showGraphErrors: setting({
    env: "THROUGHLINE_SHOW_GRAPH_ERRORS",
    flag: "show-graph-errors",
    group: "running",
    placeholder: "WHEN",
    doc: "Whether people see a graph's own errors, which may carry a key, a prompt or a path: `yes` or `no`. The log always has them.",
    schema: oneOf("yes", "no"),
    unset: "`yes` with dev sign-in, else `no`",
  }),
  drainMs: setting({
    env: "THROUGHLINE_DRAIN_MS",
    flag: "drain-ms",
    group: "running",
    placeholder: "MS",
    doc: "How long runs may go on when the server is asked to stop, before they are handed over.",
    schema: wholeNumber,
    fallback: 10_000,
    unset: "10000; 2000 in a terminal",
  }),
  roles: setting({
    env: "THROUGHLINE_ROLES",
    flag: "roles",
    group: "running",
    placeholder: "ROLES",
    doc: "What this instance does, with commas between: `api` answers requests and streams, `worker` runs graphs, `cron` starts what is due.",
    schema: someOf(...INSTANCE_ROLES),
    fallback: INSTANCE_ROLES,
    unset: "all of them",
  }),
  processes: setting({
    env: "THROUGHLINE_PROCESSES",
    flag: "processes",
    group: "running",
    placeholder: "N",
    doc: "How many processes share the port and the limits of this instance; `auto`: one for each CPU.",
    schema: processCount,
    fallback: 1,
  }),
  maxDriven: setting({
    env: "THROUGHLINE_MAX_DRIVEN_RUNS",
    flag: "max-driven-runs",
    group: "running",
    placeholder: "COUNT",
    doc: "How many runs one process drives at once, of all accounts. A start past that is answered with 429, unless it follows a run of its thread.",
    schema: positiveNumber,
    fallback: DEFAULT_MAX_DRIVEN,
  }),
  leaseMs: setting({
    env: "THROUGHLINE_LEASE_MS",
    flag: "lease-ms",
    group: "running",
    placeholder: "MS",
    doc: "How long a run stays with an instance that is not heard of.",
    schema: positiveNumber,
    fallback: 15_000,
  }),
} as const;
