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
export type { ServerEvent, ServerInfo } from "./server/run-server.js";
export { readStartConfig, type StartConfig, type StartContext } from "./settings/server-config.js";
