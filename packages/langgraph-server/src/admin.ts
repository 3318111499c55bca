/** What an operator's program does: serve until told to end, examine, delete what is past its retention, work on billing. */
export { renewAllEpochs } from "./admin/renew-epochs.js";
export { type RetentionReport, runRetention } from "./admin/run-retention.js";
export { type OpenedBilling, useBilling } from "./admin/use-billing.js";
export { examine } from "./doctor/examine.js";
export type { Finding } from "./doctor/finding.js";
export { type EffectiveSettings, effectiveSettings, type StartedWith } from "./serve/effective-settings.js";
export { runProcesses } from "./serve/processes/run-processes.js";
export type { ServeNews, Serving } from "./serve/run-server.js";
