import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Clock, systemClock, ThroughlineError } from "@throughline/ai-core";
import type { StoreItems } from "@throughline/graph-executor";
import type { RunRegistry } from "@throughline/thread-log";
import { Hono } from "hono";
import { cors } from "hono/cors";
import { copilotkitRoutes } from "../ag-ui/copilotkit-routes.js";
import { chatRoutes } from "../ai-sdk/chat-routes.js";
import { agentsRoute } from "../api/agents-route.js";
import { askAgainRoute } from "../api/ask-again-route.js";
import { auditRoutes } from "../api/audit-routes.js";
import { budgetRoutes } from "../api/budget-routes.js";
import { callerRoute } from "../api/caller-route.js";
import { eventsRoute } from "../api/events-route.js";
import { modelsRoute } from "../api/models-route.js";
import { operationsRoutes } from "../api/operations-routes.js";
import { runAgainRoutes } from "../api/run-again-routes.js";
import { runsRoute } from "../api/runs-route.js";
import { usageRoutes } from "../api/usage-routes.js";
import { attachmentRoutes } from "../attachments/attachment-routes.js";
import type { AttachmentGate } from "../attachments/store-attachments.js";
import type { ServiceBilling } from "../billing/service-billing.js";
import { cronRoutes } from "../crons/cron-routes.js";
import type { CronService } from "../crons/cron-service.js";
import { deletionRoutes } from "../deletion/deletion-routes.js";
import type { DeletionService } from "../deletion/deletion-service.js";
import type { RunService } from "../drive/run-service.js";
import { exportRoutes } from "../export/export-routes.js";
import type { ExportService } from "../export/export-service.js";
import { feedbackRoutes } from "../feedback/feedback-routes.js";
import type { FeedbackStore } from "../feedback/feedback-store.js";
import { answerError } from "../http/error-answer.js";
import type { RouteEnv, RouteParts, RouteService } from "../http/ingress.js";
import type { FetchHandler } from "../http/node-handler.js";
import { addRoutes, type OpenRoute, type Route } from "../http/route-table.js";
import { signIn } from "../http/sign-in.js";
import { whenClosed } from "../http/sse-stream.js";
import { createSseWriter } from "../http/sse-writer.js";
import type { ThreadHub } from "../hub/thread-hub.js";
import { openApiDocument } from "../openapi/openapi-document.js";
import { openApiRoutes } from "../openapi/openapi-routes.js";
import { rootRoute } from "../openapi/root-route.js";
import { createLogger, type Logger } from "../operations/logger.js";
import { createMetrics, type Metrics } from "../operations/metrics.js";
import { endSpan, traceRequest } from "../operations/request-trace.js";
import { type AccountLimits, type AccountUsage, DEFAULT_LIMITS } from "../tenancy/account-limits.js";
import type { CallerResolver } from "../tenancy/caller-resolver.js";
import { exportThreadRoute } from "../threads/export-thread-route.js";
import { searchRoute } from "../threads/search-route.js";
import { storeRoutes } from "../threads/store-routes.js";
import { threadRoutes } from "../threads/thread-routes.js";
import type { ThreadService } from "../threads/thread-service.js";
import type { WaitingQuestions } from "../threads/waiting-questions.js";
import { waitingRoute } from "../threads/waiting-route.js";

/** What the routes need of the service behind them. */
export interface HandlerService extends RouteService {
  readonly runs: RunService;
  readonly hub: ThreadHub;
  readonly crons: CronService;
  readonly threads: ThreadService;
  readonly feedback: FeedbackStore;
  readonly waiting: WaitingQuestions;
  readonly deletions: DeletionService;
  readonly exports: ExportService;
  readonly attachments: AttachmentGate;
  readonly storeItems: StoreItems | undefined;
  readonly usage: AccountUsage;
  readonly registry: Pick<RunRegistry, "findInAccount">;
  readonly billing: ServiceBilling;
  ready(): Promise<void>;
}

export interface HandlerOptions {
  readonly service: HandlerService;
  readonly caller: CallerResolver;
  /** Default `true`; otherwise only `/health`, `/ready` and `/metrics` are answered. */
  readonly hasApi?: boolean;
  /** Where the AG-UI routes lie. Default `/api/copilotkit`. */
  readonly basePath?: string;
  /** Web origins that may ask from a browser. None by default. */
  readonly corsOrigins?: readonly string[];
  readonly limits?: Partial<AccountLimits> | ((account: string) => AccountLimits);
  /** Default `false`: the `debug` profile shows a graph's own error texts, which may hold a key, a prompt or a path. */
  readonly allowDebug?: boolean;
  /** The service's address as clients know it. Default: the one that a request names. */
  readonly publicUrl?: string | undefined;
  /** The graph of `POST /runs` that names none. Default: the first that is listed. */
  readonly defaultGraph?: string | undefined;
  /** Where the console is, as people reach it. */
  readonly consoleUrl?: string | undefined;
  readonly highWaterBytes?: number;
  readonly heartbeatMs?: number;
  readonly clock?: Clock;
  readonly logger?: Logger;
  readonly metrics?: Metrics;
  readonly version?: string;
}

export interface Handler extends FetchHandler {
  /** All there is, so that what is said of every route can be checked of every route. */
  readonly routes: readonly Pick<Route | OpenRoute, "method" | "path" | "isStream" | "isOpen" | "action">[];
  /** From now on `/ready` says no. Streams go on until the service ends them. */
  startClosing(): void;
  /** Ends every stream that is still open. */
  close(): void;
}

/** All routes of the service as one fetch handler. */
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
  const parts: RouteParts<HandlerService> = {
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
    // PostgreSQL stores no NUL, so it is the name of nothing; asked for all the same, it would fail there.
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
  addRoutes(app, routes, { signIn: (c) => signIn(c, parts), arriving: service.runs.arriving });
  app.notFound((c) => answerError(c, new ThroughlineError("not_found", "There is no such route.")));
  app.onError((error, c) => answerError(c, error));

  return {
    routes,
    async fetch(request, env) {
      const response = await app.fetch(request, env as HttpBindings | undefined);
      // A middleware that touches headers after a stream began would make Node's adapter answer a second time, into the
      // stream itself.
      return env?.outgoing?.headersSent ? RESPONSE_ALREADY_SENT : response;
    },
    startClosing() {
      closing = true;
    },
    close: () => writer.close(),
  };
}
