import type { MetricData, Metrics } from "../../operations/metrics.js";
import type { ServerConfig } from "../../settings/server-config.js";
import { type RunServerOptions, runServer, type ServeNews, type Serving } from "../run-server.js";

/** Longer than the other processes need to answer while they are busy; then this one's own metrics are better than none. */
const METRICS_MS = 2_000;

/** One of several processes on one port: serves its share, and ends with the process that started it. */
export async function runChild(options: RunServerOptions): Promise<number> {
  const link = createLink();
  const code = await runServer({
    ...options,
    config: divideLimits(options.config, options.config.processes),
    signal: AbortSignal.any([options.signal, link.lost]),
    tell: (news) => link.send({ kind: "news", news }),
    onServing: async (serving) => link.send({ kind: "serving", serving }),
    shareMetrics: link.shareMetrics,
  });
  link.close();
  return code;
}

function createLink() {
  const lost = new AbortController();
  const asked = new Map<number, (text: string | undefined) => void>();
  let metrics: Metrics | undefined;
  let lastId = 0;

  function send(message: FromProcess): void {
    // Not connected any more: the signal ends this process.
    if (process.connected) process.send?.(message, undefined, undefined, () => {});
  }

  async function onMessage(message: ToProcess): Promise<void> {
    switch (message.kind) {
      case "collect_metrics":
        send({ kind: "metrics", id: message.id, metrics: (await metrics?.collect()) ?? [] });
        break;
      case "rendered_metrics":
        asked.get(message.id)?.(message.text);
        break;
    }
  }

  async function renderAll(): Promise<string | undefined> {
    lastId += 1;
    const id = lastId;
    const text = await new Promise<string | undefined>((resolve) => {
      const timer = setTimeout(resolve, METRICS_MS, undefined);
      asked.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      send({ kind: "render_metrics", id });
    });
    asked.delete(id);
    return text;
  }

  const onDisconnect = () => lost.abort();
  process.on("message", onMessage);
  process.on("disconnect", onDisconnect);

  return {
    send,
    /** Aborted when the process that started this one is gone. */
    lost: lost.signal,
    shareMetrics(own: Metrics): Metrics {
      metrics = own;
      return { ...own, render: async () => (await renderAll()) ?? own.render() };
    },
    close(): void {
      process.off("message", onMessage);
      process.off("disconnect", onDisconnect);
      if (process.connected) process.disconnect();
    },
  };
}

/** A process's share of what an instance may take: together they take no more than one alone would. */
function divideLimits(config: ServerConfig, processes: number): ServerConfig {
  const share = (limit: number) => Math.ceil(limit / processes);
  const { limits, attachmentLimits, transferLimits } = config;
  return {
    ...config,
    // With Redis an account's limits are counted over all processes; without it by each for itself.
    limits:
      config.redisUrl !== undefined
        ? limits
        : {
            ...limits,
            maxWatchers: share(limits.maxWatchers),
            maxStartsPerMinute: share(limits.maxStartsPerMinute),
            maxBodyBytesPerMinute: share(limits.maxBodyBytesPerMinute),
            maxDeletionsPerMinute: share(limits.maxDeletionsPerMinute),
          },
    attachmentLimits: {
      ...attachmentLimits,
      maxAttachmentBytesInRuns: share(attachmentLimits.maxAttachmentBytesInRuns),
    },
    transferLimits: {
      maxTransfersPerAccount: share(transferLimits.maxTransfersPerAccount),
      maxTransfersPerInstance: share(transferLimits.maxTransfersPerInstance),
    },
  };
}

/** What a process tells the one that started it. */
export type FromProcess =
  | { readonly kind: "serving"; readonly serving: Serving }
  | { readonly kind: "news"; readonly news: ServeNews }
  /** Asks for the metrics of all. */
  | { readonly kind: "render_metrics"; readonly id: number }
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: readonly MetricData[] };

/** What it is told. */
export type ToProcess =
  | { readonly kind: "collect_metrics"; readonly id: number }
  /** `undefined`: they could not be added up. */
  | { readonly kind: "rendered_metrics"; readonly id: number; readonly text: string | undefined };
