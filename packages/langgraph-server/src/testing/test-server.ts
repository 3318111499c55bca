import type { Clock } from "@throughline/ai-core";
import type { GraphProvider, GraphSource } from "@throughline/graph-executor";
import { envKeyResolver } from "@throughline/langgraph-models";
import { devCaller } from "../accounts/callers.js";
import { DEFAULT_LIMITS } from "../accounts/limits.js";
import { listen } from "../http/listen.js";
import { createLogger, logEvents } from "../operations/logging.js";
import { createMetrics, type Metrics } from "../operations/metrics.js";
import { createHandler, type Handler, type HandlerOptions } from "../server/create-handler.js";
import {
  createService,
  type Service,
  type ServiceOptions,
  type ServiceStore,
} from "../server/create-service.js";
import { catalogGraphs } from "./catalog-graphs.js";

export interface TestServer {
  readonly url: string;
  readonly service: Service;
  readonly handler: Handler;
  readonly metrics: Metrics;
  /** Of an agent's AG-UI route. */
  route(agent: string, action: string): string;
  post(path: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** As a server that shuts down: runs get this long to end. */
  close(drainMs?: number): Promise<void>;
}

type OwnOptions = Pick<
  ServiceOptions,
  "attachmentLimits" | "transferLimits" | "mediaOrigins" | "billing" | "send"
>;

export interface TestServerOptions extends OwnOptions, Partial<Omit<HandlerOptions, "service">> {
  readonly graphs?: GraphSource | GraphProvider;
  readonly leaseMs?: number;
  /** Runs that the server drives at once. */
  readonly maxDriven?: number;
  /** Of the service alone; `clock` is the handler's. */
  readonly serviceClock?: Clock;
  /** In memory by default. */
  readonly store?: ServiceStore;
}

/** The whole service on a real socket, with everything in memory if not told otherwise; callers are whom their headers say. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { graphs = catalogGraphs(envKeyResolver({})), leaseMs, maxDriven, store, ...rest } = options;
  const { attachmentLimits, transferLimits, mediaOrigins, billing, send, serviceClock, ...handlerOptions } =
    rest;
  const metrics = createMetrics();
  const { limits } = handlerOptions;
  const limitsOf = typeof limits === "function" ? limits : () => ({ ...DEFAULT_LIMITS, ...limits });
  const logger = handlerOptions.logger ?? createLogger({ level: "silent" });
  const service = await createService({
    store: store ?? { kind: "memory" },
    graphs,
    ...(maxDriven !== undefined && { maxDriven }),
    ...(attachmentLimits && { attachmentLimits }),
    ...(transferLimits && { transferLimits }),
    ...(mediaOrigins && { mediaOrigins }),
    ...(billing && { billing }),
    ...(send && { send }),
    ...(serviceClock && { clock: serviceClock }),
    observer: logEvents({ metrics, logger }),
    limitsOf,
    ...(leaseMs !== undefined && { leaseMs }),
  });
  const handler = createHandler({ caller: devCaller(), metrics, logger, ...handlerOptions, service });
  const listening = await listen(handler, { host: "127.0.0.1", port: 0 });
  const { url } = listening;
  let closed: Promise<void> | undefined;
  async function close(drainMs: number): Promise<void> {
    handler.startClosing();
    listening.stopAccepting();
    await service.close({ drainMs });
    handler.close();
    await listening.finish();
    metrics.close();
  }
  return {
    url,
    service,
    handler,
    metrics,
    route: (agent, action) => `${url}/api/copilotkit/agent/${agent}/${action}`,
    post: (path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    close(drainMs = 0) {
      closed ??= close(drainMs);
      return closed;
    },
  };
}
