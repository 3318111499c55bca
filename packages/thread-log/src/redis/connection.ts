import type { Clock, Timer } from "@throughline/ai-core";
import { inTime } from "./in-time.js";

/** A connection that is made again whenever it is lost. */
export interface RedisLink<Client> {
  /** `undefined` while there is none that answers. */
  client(): Client | undefined;
  /** Gives up a connection that does not answer as it should. */
  drop(client: Client, reason: unknown): void;
  close(): void;
}

export interface RedisLinkOptions<Client> {
  readonly clock: Clock;
  /** Makes a client that is not connected yet. `onLost` may be called at any time, and more than once. */
  readonly create: (onLost: (reason: unknown) => void) => Client;
  /** Connects it and makes it ready for use. */
  readonly introduce: (client: Client) => Promise<void>;
  /** Rejects when the other end is not what it was. */
  readonly probe: (client: Client) => Promise<void>;
  readonly destroy: (client: Client) => void;
  readonly onUp: () => void;
  /** After a connection was lost, and after every attempt that failed. */
  readonly onDown: (reason: unknown) => void;
}

/** Deadline of an introduction and of a probe: a server that was stopped accepts connections, and responds to nothing. */
const ANSWER_MS = 1_000;
const PROBE_EVERY_MS = 1_000;
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 1_000;

/** Maintains at most one connection, and reports each change. Nothing is queued while there is none. */
export function maintainRedisLink<Client>(options: RedisLinkOptions<Client>): RedisLink<Client> {
  const { clock, create, introduce, probe, destroy, onUp, onDown } = options;
  let candidate: Client | undefined;
  let current: Client | undefined;
  let timer: Timer | undefined;
  let delay = FIRST_DELAY_MS;
  let closed = false;

  function connect(): void {
    const client = create((reason) => lose(client, reason));
    candidate = client;
    inTime(clock, ANSWER_MS, introduce(client)).then(
      () => {
        if (candidate !== client) return;
        candidate = undefined;
        current = client;
        delay = FIRST_DELAY_MS;
        probeLater(client);
        onUp();
      },
      (reason: unknown) => lose(client, reason),
    );
  }

  function probeLater(client: Client): void {
    timer = clock.schedule(PROBE_EVERY_MS, () => {
      inTime(clock, ANSWER_MS, probe(client)).then(
        () => {
          if (current === client) probeLater(client);
        },
        (reason: unknown) => lose(client, reason),
      );
    });
  }

  function lose(client: Client, reason: unknown): void {
    if (client !== candidate && client !== current) return;
    forget();
    destroy(client);
    timer = clock.schedule(delay, connect);
    delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    onDown(reason);
  }

  function forget(): void {
    candidate = undefined;
    current = undefined;
    timer?.cancel();
  }

  connect();
  return {
    client: () => current,
    drop: lose,
    close() {
      if (closed) return;
      closed = true;
      const last = current ?? candidate;
      forget();
      if (last !== undefined) destroy(last);
    },
  };
}

/** Messages on their way, in the order they were sent. */
export interface Outbox {
  /** `onLost` is called once if the message is not taken in time, or not at all. It may arrive all the same. */
  send(message: Buffer, onLost: () => void): void;
}

export interface OutboxOptions {
  readonly clock: Clock;
  /** Resolves when the message was taken. Messages are taken in order. */
  readonly post: (message: Buffer) => Promise<unknown>;
  /** Nothing is taken any more. */
  readonly onStalled: () => void;
  /** Default 500. */
  readonly timeoutMs?: number;
}

interface Sent {
  readonly at: number;
  readonly onLost: () => void;
}

/** One timer for all that is on its way: only the oldest can be late. */
export function createOutbox({ clock, post, onStalled, timeoutMs = 500 }: OutboxOptions): Outbox {
  const underWay = new Set<Sent>();
  let isTimed = false;

  function lose(sent: Sent): void {
    if (underWay.delete(sent)) sent.onLost();
  }

  function checkIn(ms: number): void {
    isTimed = true;
    clock.schedule(ms, checkOldest);
  }

  function checkOldest(): void {
    isTimed = false;
    const [oldest] = underWay;
    if (!oldest) return;
    const leftMs = oldest.at + timeoutMs - clock.now();
    if (leftMs > 0) {
      checkIn(leftMs);
      return;
    }
    // An answer that came while this process was busy is read before that.
    setImmediate(() => {
      if (underWay.has(oldest)) giveUp();
      else if (!isTimed) checkOldest();
    });
  }

  /** All of it: what is behind the oldest waits for it. */
  function giveUp(): void {
    for (const sent of [...underWay]) lose(sent);
    onStalled();
  }

  return {
    send(message, onLost) {
      const sent: Sent = { at: clock.now(), onLost };
      underWay.add(sent);
      if (!isTimed) checkIn(timeoutMs);
      post(message).then(
        () => underWay.delete(sent),
        () => lose(sent),
      );
    },
  };
}
