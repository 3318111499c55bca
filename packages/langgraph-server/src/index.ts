export type { Serving } from "./cli/command.js";
export { type CliOptions, runCli } from "./cli/run-cli.js";
export { createService, type Service, type ServiceOptions, type ServiceStore } from "./compose.js";
export { renderConfigurationReference } from "./config/render-reference.js";
export { readConfig, type ServerConfig, type SignInConfig } from "./config.js";
export type { RunNote } from "./drive/run-note.js";
export type {
  RunInput,
  RunService,
  StartOutcome,
  StartRunRequest,
  StopOutcome,
} from "./drive/run-service.js";
export type { CallNote, ServiceObserver } from "./drive/service-observer.js";
export { createHandler, type Handler, type HandlerOptions } from "./http/create-handler.js";
export { type ThreadAddress, threadAddress } from "./hub/thread-address.js";
export type { FaceOptions, ThreadHub, Watch, WatchFrom, WatchOptions, WatchSink } from "./hub/thread-hub.js";
export type { OpenApiDocument } from "./openapi/openapi-shape.js";
export { renderOpenApi } from "./openapi/render-openapi.js";
export { createLogger, type Logger } from "./operations/logger.js";
export { createMetrics, type Metrics } from "./operations/metrics.js";
export { observeService } from "./operations/observe-service.js";
export { DEFAULT_RETENTION, type Retention } from "./operations/retention-sweeper.js";
export { type RunningServer, type ServeOptions, startServer } from "./serve.js";
export {
  type AccountLimits,
  type AccountUsage,
  createAccountUsage,
  DEFAULT_LIMITS,
} from "./tenancy/account-limits.js";
export type { CallerResolver, Credentials, Ingress } from "./tenancy/caller-resolver.js";
export { customCaller } from "./tenancy/custom-caller.js";
export { devCaller } from "./tenancy/dev-caller.js";
export { type CallerClaims, type JwtCallerOptions, jwtCaller } from "./tenancy/jwt-caller.js";
