import type { Metrics } from "../../operations/metrics.js";
import { type RunServerOptions, runServer } from "../run-server.js";
import { divideLimits } from "./divide-limits.js";
import type { FromProcess, ToProcess } from "./process-message.js";

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
