/** The functions of an operator's program: serve until shutdown, examine, delete what is past its retention, work on billing. */

export { examine } from "./server/doctor/examine.js";
export type { Finding } from "./server/doctor/finding.js";
export {
  type OpenedBilling,
  type RetentionReport,
  renewAllEpochs,
  runRetention,
  useBilling,
} from "./server/maintenance.js";
export { runProcesses } from "./server/processes/primary.js";
export type { ServeNews, Serving } from "./server/run-server.js";
export { type EffectiveSettings, effectiveSettings, type StartedWith } from "./settings/server-config.js";
