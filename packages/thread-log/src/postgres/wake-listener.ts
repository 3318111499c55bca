import type { Clock, Timer } from "@throughline/ai-core";
import pg from "pg";

export interface WakeListenerOptions {
  readonly connection: pg.ClientConfig;
  readonly channel: string;
  readonly clock: Clock;
  readonly onPayload: (payload: string) => void;
  /** After every connection but the first: what was told meanwhile is lost, so everything must be looked at again. */
  readonly onReconnected: () => void;
}

export interface WakeListener {
  close(): Promise<void>;
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 2_000;
/** A connection whose other end vanished without a word is noticed after two of these at most. */
const PROBE_EVERY_MS = 10_000;

/** The one LISTEN connection of an instance, whatever the number of watchers. Resolves once it listens. */
export async function startWakeListener(options: WakeListenerOptions): Promise<WakeListener> {
  const { connection, channel, clock, onPayload, onReconnected } = options;
  let client: pg.Client | undefined;
  let timer: Timer | undefined;
  let closed = false;

  async function connect(): Promise<void> {
    const fresh = new pg.Client({ ...connection, keepAlive: true, application_name: "throughline wake" });
    let lost = false;
    const onLost = () => {
      if (lost) return;
      lost = true;
      void fresh.end().catch(() => {});
      if (client === fresh && !closed) reconnect(FIRST_DELAY_MS);
    };
    fresh.on("error", onLost);
    fresh.on("end", onLost);
    fresh.on("notification", ({ payload }) => onPayload(payload ?? ""));
    try {
      await fresh.connect();
      await fresh.query(`listen ${channel}`);
    } catch (error) {
      lost = true;
      void fresh.end().catch(() => {});
      throw error;
    }
    if (closed) return fresh.end();
    client = fresh;
    probe(fresh, onLost);
    if (lost) reconnect(FIRST_DELAY_MS);
  }

  function probe(of: pg.Client, onLost: () => void): void {
    timer = clock.schedule(PROBE_EVERY_MS, () => {
      if (client !== of || closed) return;
      const answered = of.query("select 1").then(
        () => true,
        () => false,
      );
      timer = clock.schedule(PROBE_EVERY_MS, onLost);
      void answered.then((ok) => {
        if (client !== of || closed) return;
        timer?.cancel();
        if (ok) probe(of, onLost);
        else onLost();
      });
    });
  }

  function reconnect(delay: number): void {
    client = undefined;
    timer?.cancel();
    timer = clock.schedule(delay, () => {
      connect().then(onReconnected, () => {
        if (!closed) reconnect(Math.min(delay * 2, LONGEST_DELAY_MS));
      });
    });
  }

  await connect();
  return {
    async close() {
      closed = true;
      timer?.cancel();
      await client?.end().catch(() => {});
    },
  };
}
