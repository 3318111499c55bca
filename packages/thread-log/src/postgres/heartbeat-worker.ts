import type { MessagePort } from "node:worker_threads";
import type pg from "pg";

export interface HeartbeatSettings {
  readonly connection: pg.ClientConfig;
  readonly statement: string;
  readonly leaseMs: number;
  readonly everyMs: number;
}

export type ToWorker =
  | { readonly kind: "keep"; readonly runId: string; readonly token: string }
  | { readonly kind: "drop"; readonly runId: string }
  | { readonly kind: "close" };

export interface FromWorker {
  readonly kind: "lost" | "stop";
  readonly runId: string;
}

/**
 * The whole program of the heartbeat's thread. It is sent there as text, because a file of its own would have to be found
 * both in the source tree and in a bundle: so it must not refer to anything outside itself but its arguments.
 */
export function runHeartbeats(
  port: MessagePort,
  { connection, statement, leaseMs, everyMs }: HeartbeatSettings,
  Client: typeof pg.Client,
): void {
  /** By run: its token, and when, by this thread's own stopwatch, the renewal that last succeeded was sent. */
  const kept = new Map<string, { token: string; renewedAt: number }>();
  let client: pg.Client | undefined;
  let beating = false;
  const tell = (kind: FromWorker["kind"], runId: string) => {
    const message: FromWorker = { kind, runId };
    port.postMessage(message);
  };

  async function connected(): Promise<pg.Client> {
    if (client) return client;
    const fresh = new Client({
      ...connection,
      application_name: "throughline heartbeat",
      connectionTimeoutMillis: leaseMs / 3,
      query_timeout: leaseMs / 3,
    });
    fresh.on("error", () => {
      if (client === fresh) client = undefined;
    });
    await fresh.connect();
    client = fresh;
    return fresh;
  }

  function lose(runId: string): void {
    kept.delete(runId);
    tell("lost", runId);
  }

  async function beat(): Promise<void> {
    const sentAt = performance.now();
    const asked = [...kept].map(([runId, { token }]) => ({ runId, token }));
    try {
      const { rows } = await (await connected()).query<{ run_id: string; stop_requested: boolean }>(
        statement,
        [asked.map(({ runId }) => runId), asked.map(({ token }) => token), leaseMs],
      );
      const renewed = new Map(rows.map((row) => [row.run_id, row.stop_requested]));
      for (const { runId, token } of asked) {
        const held = kept.get(runId);
        if (held?.token !== token) continue;
        const stop = renewed.get(runId);
        if (stop === undefined) lose(runId);
        else held.renewedAt = sentAt;
        if (stop) tell("stop", runId);
      }
    } catch {
      const broken = client;
      client = undefined;
      void broken?.end().catch(() => {});
      // Nobody answers: past this moment another instance may have taken over, whether or not we hear of it.
      for (const [runId, { renewedAt }] of kept) if (performance.now() - renewedAt >= leaseMs) lose(runId);
    }
  }

  const timer = setInterval(() => {
    if (beating || kept.size === 0) return;
    beating = true;
    void beat().finally(() => {
      beating = false;
    });
  }, everyMs);

  port.on("message", (message: ToWorker) => {
    switch (message.kind) {
      case "keep":
        kept.set(message.runId, { token: message.token, renewedAt: performance.now() });
        return;
      case "drop":
        kept.delete(message.runId);
        return;
      case "close":
        clearInterval(timer);
        kept.clear();
        port.close();
        void client?.end().catch(() => {});
    }
  });
}
