import type { MetricData, Metrics } from "../../operations/metrics.js";
import type { ServerConfig } from "../../settings/server-config.js";
import { type RunServerOptions, runServer, type ServerEvent, type ServerInfo } from "../run-server.js";

/** Longer than busy processes need to respond; after it this process's own metrics are better than none. */
const METRICS_MS = 2_000;

/** Runs one of several processes on one port: it serves its share, and ends with the primary. */
export async function runChild(options: RunServerOptions): Promise<number> {
  const link = createLink();
  const code = await runServer({
    ...options,
    config: divideLimits(options.config, options.config.processes),
    signal: AbortSignal.any([options.signal, link.lost]),
    onEvent: (news) => link.send({ kind: "news", news }),
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
    // When disconnected, the signal ends this process.
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
    /** Aborted when the primary is gone. */
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

/** Divides an instance's limits, so that all processes together use no more than a single one would. */
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

/** A message from a process to the primary. */
export type FromProcess =
  | { readonly kind: "serving"; readonly serving: ServerInfo }
  | { readonly kind: "news"; readonly news: ServerEvent }
  /** Requests the metrics of all processes. */
  | { readonly kind: "render_metrics"; readonly id: number }
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: readonly MetricData[] };

/** A message from the primary to a process. */
export type ToProcess =
  | { readonly kind: "collect_metrics"; readonly id: number }
  /** `text` is `undefined` if the metrics could not be merged. */
  | { readonly kind: "rendered_metrics"; readonly id: number; readonly text: string | undefined };
