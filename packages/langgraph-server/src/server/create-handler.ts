import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Clock, systemClock, ThroughlineError } from "@throughline/ai-core";
import type { StoreItems } from "@throughline/graph-executor";
import type { RunRegistry } from "@throughline/thread-log";
import { Hono } from "hono";
import { cors } from "hono/cors";
import type { ServiceBilling } from "../accounts/billing.js";
import type { CallerResolver } from "../accounts/callers.js";
import type { DeletionService } from "../accounts/deletion-service.js";
import type { ExportService } from "../accounts/export-account.js";
import { type AccountLimiter, type AccountLimits, DEFAULT_LIMITS } from "../accounts/limits.js";
import type { AttachmentGate } from "../attachments/input-attachments.js";
import type { CronService } from "../crons/cron-service.js";
import type { FetchHandler } from "../http/listen.js";
import { type App, authenticate, errorResponse, type RouteEnv, type RouteService } from "../http/request.js";
import { addRoutes, type OpenRoute, type Route } from "../http/route.js";
import { auditRoutes, callerRoute } from "../http/routes/account-access.js";
import { deletionRoutes, exportRoutes, storeRoutes } from "../http/routes/account-data.js";
import { agentsRoute, modelsRoute } from "../http/routes/agents.js";
import { chatRoutes } from "../http/routes/ai-sdk.js";
import { attachmentRoutes } from "../http/routes/attachments.js";
import { budgetRoutes } from "../http/routes/budgets.js";
import { copilotkitRoutes } from "../http/routes/copilotkit.js";
import { cronRoutes } from "../http/routes/crons.js";
import { feedbackRoutes } from "../http/routes/feedback.js";
import { openApiDocument } from "../http/routes/openapi.js";
import { openApiRoutes, operationsRoutes, rootRoute } from "../http/routes/operations.js";
import { askAgainRoute, runAgainRoutes } from "../http/routes/rerun.js";
import { eventsRoute, runsRoute } from "../http/routes/runs.js";
import { exportThreadRoute, searchRoute, waitingRoute } from "../http/routes/thread-search.js";
import { threadRoutes } from "../http/routes/threads.js";
import { usageRoutes } from "../http/routes/usage.js";
import { createSseWriter } from "../http/sse.js";
import { whenClosed } from "../http/sse-stream.js";
import { createLogger, type Logger } from "../operations/logging.js";
import { createMetrics, type Metrics } from "../operations/metrics.js";
import { endSpan, traceRequest } from "../operations/tracing.js";
import type { RunService } from "../runs/start-request.js";
import type { ThreadService } from "../runs/thread-service.js";
import type { ThreadStreams } from "../streams/stream-types.js";
import type { FeedbackStore } from "../threads/feedback-store.js";
import type { WaitingInterrupts } from "../threads/waiting-interrupts.js";

/** The part of the service that the routes need. */
export interface AppService extends RouteService {
  readonly runs: RunService;
  readonly hub: ThreadStreams;
  readonly crons: CronService;
  readonly threads: ThreadService;
  readonly feedback: FeedbackStore;
  readonly waiting: WaitingInterrupts;
  readonly deletions: DeletionService;
  readonly exports: ExportService;
  readonly attachments: AttachmentGate;
  readonly storeItems: StoreItems | undefined;
  readonly usage: AccountLimiter;
  readonly registry: Pick<RunRegistry, "findInAccount">;
  readonly billing: ServiceBilling;
  ready(): Promise<void>;
}

export interface HandlerOptions {
  readonly service: AppService;
  readonly caller: CallerResolver;
  /** Default `true`; otherwise only `/health`, `/ready` and `/metrics` are answered. */
  readonly hasApi?: boolean;
  /** The base path of the AG-UI routes. Default `/api/copilotkit`. */
  readonly basePath?: string;
  /** Web origins that may send requests from a browser. None by default. */
  readonly corsOrigins?: readonly string[];
  readonly limits?: Partial<AccountLimits> | ((account: string) => AccountLimits);
  /** Default `false`: the `debug` profile shows a graph's own error texts, which may hold a key, a prompt or a path. */
  readonly allowDebug?: boolean;
  /** The service's public address. Default: the one that a request names. */
  readonly publicUrl?: string | undefined;
  /** The graph of a `POST /runs` that names none. Default: the first one listed. */
  readonly defaultGraph?: string | undefined;
  /** The console's public URL. */
  readonly consoleUrl?: string | undefined;
  readonly highWaterBytes?: number;
  readonly heartbeatMs?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  readonly version?: string;
}

export interface Handler extends FetchHandler {
  /** All routes, so that tests can check a rule for each one. */
  readonly routes: readonly Pick<Route | OpenRoute, "method" | "path" | "isStream" | "isOpen" | "action">[];
  /** Makes `/ready` fail from now on. Streams go on until the service ends them. */
  startClosing(): void;
  /** Ends every stream that is still open. */
  close(): void;
}

/** Creates one fetch handler for all routes of the service. */
export function createHandler(options: HandlerOptions): Handler {
  const { service, clock = systemClock, limits, version = "0.0.0" } = options;
  const logger = options.logger ?? createLogger({ level: "silent" });
  const metrics = options.metrics ?? createMetrics({ clock });
  let closing = false;
  const writer = createSseWriter({
    clock,
    ...(options.highWaterBytes !== undefined && { highWaterBytes: options.highWaterBytes }),
    ...(options.heartbeatMs !== undefined && { heartbeatMs: options.heartbeatMs }),
    onOpened: metrics.streamOpened,
    onClosed: metrics.streamClosed,
    onDropped: metrics.slowReaderDropped,
  });
  const parts: App<AppService> = {
    service,
    resolver: options.caller,
    limitsOf: typeof limits === "function" ? limits : () => ({ ...DEFAULT_LIMITS, ...limits }),
    usage: service.usage,
    writer,
    clock,
    allowDebug: options.allowDebug ?? false,
    publicUrl: options.publicUrl,
    defaultGraph: options.defaultGraph,
  };

  const app = new Hono<RouteEnv>();
  app.use(async (c, next) => {
    const trace = traceRequest(c.req.raw.headers, `${c.req.method} ${new URL(c.req.url).pathname}`);
    const { requestId, traceId, traceparent, span } = trace;
    const log = logger.child({ requestId, traceId });
    c.set("trace", trace);
    c.set("logger", log);
    c.set("route", "unknown");
    c.header("x-request-id", requestId);
    c.header("traceparent", traceparent);
    const startedAt = clock.now();
    await next();
    const stream = c.get("stream");
    const status = stream ? 200 : c.res.status;
    const route = c.get("route");
    metrics.requestAnswered(route, status);
    const limit = c.error instanceof ThroughlineError ? c.error.details.limit : undefined;
    if (typeof limit === "string") metrics.limitMet(limit);
    const finish = () => {
      span.updateName(route);
      endSpan(span, status);
      log.info({ route, status, ms: clock.now() - startedAt, ...(stream && { stream: true }) }, "answered");
    };
    if (stream) whenClosed(stream, finish);
    else finish();
  });
  app.use((c, next) => {
    // PostgreSQL stores no NUL, so no row has such a name, and a query with it would fail.
    if (!c.req.url.includes("%00")) return next();
    throw new ThroughlineError("invalid_input", "path: holds a NUL", { details: { field: "path" } });
  });
  if (options.corsOrigins && options.corsOrigins.length > 0) {
    app.use(
      cors({
        origin: options.corsOrigins.includes("*") ? "*" : [...options.corsOrigins],
        allowMethods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
        exposeHeaders: ["x-request-id", "traceparent", "retry-after"],
        maxAge: 600,
      }),
    );
  }
  const operations = operationsRoutes({ service, metrics, version, isClosing: () => closing });
  const api: readonly (Route | OpenRoute)[] = [
    ...copilotkitRoutes(parts, options.basePath ?? "/api/copilotkit", version),
    ...chatRoutes(parts),
    runsRoute(parts),
    eventsRoute(parts),
    agentsRoute(parts),
    modelsRoute(parts),
    callerRoute(),
    ...threadRoutes(parts),
    waitingRoute(parts),
    searchRoute(parts),
    exportThreadRoute(parts),
    askAgainRoute(parts),
    ...runAgainRoutes(parts),
    ...feedbackRoutes(parts),
    ...attachmentRoutes(parts),
    ...storeRoutes(parts),
    ...cronRoutes(parts),
    ...deletionRoutes(parts),
    ...usageRoutes(parts),
    ...budgetRoutes(parts),
    ...auditRoutes(parts),
    ...exportRoutes(parts),
    ...operations,
    rootRoute({ version, consoleUrl: options.consoleUrl, publicUrl: options.publicUrl }),
    ...openApiRoutes(() => openApiDocument(api, version)),
  ];
  const routes = (options.hasApi ?? true) ? api : operations;
  addRoutes(app, routes, { authenticate: (c) => authenticate(c, parts), arriving: service.runs.arriving });
  app.notFound((c) => errorResponse(c, new ThroughlineError("not_found", "There is no such route.")));
  app.onError((error, c) => errorResponse(c, error));

  return {
    routes,
    async fetch(request, env) {
      const response = await app.fetch(request, env as HttpBindings | undefined);
      // A middleware that changes headers after a stream began would make Node's adapter respond a second time, into the
      // stream itself.
      return env?.outgoing?.headersSent ? RESPONSE_ALREADY_SENT : response;
    },
    startClosing() {
      closing = true;
    },
    close: () => writer.close(),
  };
}
