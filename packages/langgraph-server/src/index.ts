export type { Role } from "./accounts/actions.js";
export type { CallerResolver, Credentials, Ingress } from "./accounts/callers.js";
export { customCaller, devCaller } from "./accounts/callers.js";
export { type CallerClaims, type JwtCallerOptions, jwtCaller } from "./accounts/jwt-caller.js";
export {
  type AccountLimiter,
  type AccountLimits,
  DEFAULT_LIMITS,
} from "./accounts/limits.js";
export { type FetchHandler, toNodeHandler } from "./http/listen.js";
export type { OpenApiDocument } from "./http/openapi-shape.js";
export { createLogger, type Logger, logEvents } from "./operations/logging.js";
export { createMetrics, type Metrics } from "./operations/metrics.js";
export type { ObservedCall, RunLabels, ServiceObserver } from "./operations/observer.js";
export { DEFAULT_RETENTION, type Retention } from "./operations/upkeep.js";
export type {
  RunService,
  StartOutcome,
  StartRunRequest,
  StopOutcome,
} from "./runs/start-request.js";
export { createHandler, type Handler, type HandlerOptions } from "./server/create-handler.js";
export type { ServiceOptions } from "./server/create-service.js";
export { createService, type Service, type ServiceStore } from "./server/create-service.js";
export { renderOpenApi, renderRoles } from "./server/render-docs.js";
export { type RunningServer, type ServeOptions, startServer } from "./server/start-server.js";
export { renderConfigurationReference } from "./settings/configuration-reference.js";
export { readConfig, type ServerConfig, type SignInConfig } from "./settings/server-config.js";
export type {
  EncoderOptions,
  FrameSink,
  SubscribeFrom,
  SubscribeOptions,
  Subscription,
  ThreadStreams,
} from "./streams/stream-types.js";
export type { RunInput } from "./threads/run-spec.js";
export { type ThreadAddress, threadAddress } from "./threads/thread-address.js";
