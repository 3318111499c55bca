import type { Clock } from "@throughline/ai-core";

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
