export { readConfig, type ServerConfig, type SignInConfig } from "./config/read-config.js";
export { renderConfigurationReference } from "./config/render-reference.js";
export type {
  RunService,
  StartOutcome,
  StartRunRequest,
  StopOutcome,
} from "./drive/run-service.js";
export { createHandler, type Handler, type HandlerOptions } from "./handler/create-handler.js";
export { renderOpenApi } from "./handler/render-openapi.js";
export { renderRoles } from "./handler/render-roles.js";
export { type FetchHandler, toNodeHandler } from "./http/node-handler.js";
export type {
  FaceOptions,
  FrameSink,
  SubscribeFrom,
  SubscribeOptions,
  Subscription,
  ThreadHub,
} from "./hub/thread-hub.js";
export type { OpenApiDocument } from "./openapi/openapi-shape.js";
export { createLogger, type Logger } from "./operations/logger.js";
export { createMetrics, type Metrics } from "./operations/metrics.js";
export { observeService } from "./operations/observe-service.js";
export { DEFAULT_RETENTION, type Retention } from "./operations/retention-sweeper.js";
export type { Role } from "./policy/role.js";
export { type RunningServer, type ServeOptions, startServer } from "./serve/start-server.js";
export { createService, type Service, type ServiceStore } from "./service/create-service.js";
export type { ServiceOptions } from "./service/service-options.js";
export {
  type AccountLimits,
  type AccountUsage,
  DEFAULT_LIMITS,
} from "./tenancy/account-limits.js";
export type { CallerResolver, Credentials, Ingress } from "./tenancy/caller-resolver.js";
export { customCaller } from "./tenancy/custom-caller.js";
export { devCaller } from "./tenancy/dev-caller.js";
export { type CallerClaims, type JwtCallerOptions, jwtCaller } from "./tenancy/jwt-caller.js";
export type { RunInput } from "./thread/run-input.js";
export type { RunNote } from "./thread/run-note.js";
export type { CallNote, ServiceObserver } from "./thread/service-observer.js";
export { type ThreadAddress, threadAddress } from "./thread/thread-address.js";
