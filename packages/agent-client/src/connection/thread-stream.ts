import type { Clock } from "@throughline/ai-core";
import { createNamedTimers, type Telemetry } from "../client/environment.js";
import { keepSame } from "../client/store.js";
import type { FollowedThread, LogText, ServicePort, ThreadName } from "../transport/agent-service.js";
import type { EventText } from "../transport/event-stream.js";
import {
  type Connection,
  type ConnectionEffect,
  type ConnectionInput,
  type ConnectionPolicy,
  type ConnectionStatus,
  closedConnection,
  type Moment,
  type StreamFailure,
  stepConnection,
} from "./connection-state.js";
import {
  carry,
  endOne,
  isAsked,
  newSubscription,
  type Subscription,
  startOver,
  statusOf,
} from "./subscription-state.js";

/** Who reads one thread off the browser's stream. */
export interface StreamReader {
  readonly thread: Omit<FollowedThread, "cursor">;
  /** A stream is asked to carry it: where to go on. What an earlier stream said of it is over. */
  begin(): string | undefined;
  events(events: readonly EventText[]): void;
  /** The stream that carried it is gone. */
  end(): void;
  statusChanged(): void;
}

export interface StreamSubscription {
  status(): ConnectionStatus;
  /** Asked to go on, the service told everything instead. */
  gap(): void;
  /** What came does not fit what is held: it is asked for anew. */
  startOver(): void;
  /** Asks now instead of when it is due, and again after a refusal. */
  reconnect(): void;
  leave(): void;
}

/** One stream for all that a browser follows. It is opened anew, with the cursors at hand, when what it carries changes. */
export interface BrowserStream {
  subscribe(reader: StreamReader): StreamSubscription;
  tell(input: Extract<ConnectionInput, { kind: "online" | "visible" }>): void;
  close(): void;
}

export interface BrowserStreamOptions {
  readonly service: ServicePort;
  readonly clock: Clock;
  readonly random: () => number;
  readonly policy: ConnectionPolicy;
  readonly telemetry: Telemetry;
}

interface Followed {
  readonly reader: StreamReader;
  subscription: Subscription;
  status: ConnectionStatus;
}

/** What the service says to all of a stream before it ends it: the stream's own end. */
const ENDS_ALL = new Set(["unauthorized", "shutting_down"]);

export function createBrowserStream(options: BrowserStreamOptions): BrowserStream {
  const { service, clock, policy, telemetry } = options;
  const followed = new Set<Followed>();
  let connection: Connection = closedConnection;
  let isReplacing = false;
  let open:
    | { readonly stream: number; readonly cut: AbortController; readonly carried: readonly Followed[] }
    | undefined;
  const timers = createNamedTimers<"retry" | "watchdog" | "ask">(clock, (timer) => {
    if (timer === "ask") askAgain();
    else step({ kind: "due", timer });
  });

  function moment(): Moment {
    return { now: clock.now(), random: options.random() };
  }

  function step(input: ConnectionInput): void {
    const [next, effects] = stepConnection(connection, input, moment(), policy);
    connection = next;
    for (const effect of effects) perform(effect);
    tellStatuses();
  }

  function perform(effect: ConnectionEffect): void {
    switch (effect.kind) {
      case "open-stream":
        void readStream(effect.stream);
        break;
      case "close-stream":
        closeStream(effect.stream);
        break;
      case "renew":
        void service.renew().then((ok) => step({ kind: "renewed", ok }));
        break;
      case "timer":
        timers.set(effect.name, effect.at && effect.at - clock.now());
        break;
      case "reconnecting":
        telemetry.reconnecting?.({ attempt: effect.attempt, waitMs: effect.waitMs });
        break;
    }
  }

  function closeStream(stream: number): void {
    if (open?.stream !== stream) return;
    const { cut, carried } = open;
    open = undefined;
    cut.abort();
    for (const { reader } of carried) reader.end();
  }

  async function readStream(stream: number): Promise<void> {
    const cut = new AbortController();
    const carried = [...followed].filter(({ subscription }) => isAsked(subscription));
    const isOpen = () => open?.stream === stream;
    const isRead = (one: Followed) => isOpen() && followed.has(one);
    open = { stream, cut, carried };
    const threads = carried.map(({ reader }) => ({ ...reader.thread, cursor: reader.begin() }));
    let failure: StreamFailure | undefined;
    const end = await service.follow(threads, cut.signal, {
      opened() {
        if (!isOpen()) return;
        for (const one of carried) one.subscription = carry(one.subscription, stream, clock.now());
        step({ kind: "opened", stream });
      },
      heard() {
        // Nothing of this changes what is shown.
        if (isOpen()) [connection] = stepConnection(connection, { kind: "heard", stream }, moment(), policy);
      },
      events(at, events) {
        const one = carried[at];
        if (one && isRead(one)) one.reader.events(events);
      },
      ended(at, told) {
        const one = carried[at];
        if (ENDS_ALL.has(told.code)) failure = told;
        else if (one && isRead(one)) refuse(one, told);
      },
    });
    closeStream(stream);
    step(failure ? { kind: "failed", stream, failure } : { ...end, stream });
  }

  function refuse(one: Followed, failure: Extract<StreamFailure, { kind: "refused" }>): void {
    one.subscription = endOne(one.subscription, failure, moment(), policy);
    one.reader.end();
    armAsk();
    // A stream without a subscription is none: the service ends it, and it must not be asked for again.
    if (!isWanted()) changed();
    tellStatuses();
  }

  function isWanted(): boolean {
    return [...followed].some(({ subscription }) => isAsked(subscription));
  }

  /** Those that wait to be asked for again share one timer: it fires for the first of them. */
  function armAsk(): void {
    const times = [...followed].flatMap(({ subscription: { retryAt } }) => retryAt ?? []);
    timers.set("ask", Math.min(...times) - clock.now());
  }

  function askAgain(): void {
    for (const one of followed) {
      const { retryAt } = one.subscription;
      if (retryAt !== undefined && retryAt <= clock.now())
        one.subscription = { ...one.subscription, retryAt: undefined };
    }
    armAsk();
    changed();
  }

  /** Of all that comes and goes in one turn, one stream is made. */
  function changed(): void {
    if (isReplacing) return;
    isReplacing = true;
    queueMicrotask(() => {
      isReplacing = false;
      step({ kind: isWanted() ? "replace" : "close" });
    });
  }

  function tellStatuses(): void {
    for (const one of followed) {
      const status = keepSame(one.status, statusOf(one.subscription, connection));
      if (status === one.status) continue;
      one.status = status;
      one.reader.statusChanged();
    }
  }

  return {
    subscribe(reader) {
      const one: Followed = { reader, subscription: newSubscription, status: { kind: "connecting" } };
      followed.add(one);
      changed();
      return {
        status: () => one.status,
        gap() {
          one.subscription = { ...one.subscription, isGap: true };
          telemetry.gap?.();
          tellStatuses();
        },
        startOver() {
          one.subscription = startOver(one.subscription, moment(), policy);
          one.reader.end();
          armAsk();
          changed();
          tellStatuses();
        },
        reconnect() {
          one.subscription = { ...one.subscription, failure: undefined, retryAt: undefined, attempt: 0 };
          armAsk();
          if (connection.status.kind === "live" || connection.status.kind === "closed") changed();
          else step({ kind: "reconnect" });
          tellStatuses();
        },
        leave() {
          if (followed.delete(one)) changed();
        },
      };
    },
    tell: step,
    close() {
      followed.clear();
      step({ kind: "close" });
      timers.clearAll();
    },
  };
}

/** Who shows a thread's log. */
export interface LogReader {
  /** All up to there is held; `undefined`: nothing. */
  cursor(): string | undefined;
  entries(entries: readonly LogText[]): void;
  statusChanged(status: ConnectionStatus): void;
}

/** Reads a thread's log until what it returns is called. */
export function openLog(stream: BrowserStream, thread: ThreadName, reader: LogReader): () => void {
  const subscription = stream.subscribe({
    thread: { ...thread, view: "envelopes" },
    begin: () => reader.cursor(),
    events: (events) => reader.entries(events.filter(isEntry)),
    end() {},
    statusChanged: () => reader.statusChanged(subscription.status()),
  });
  return () => subscription.leave();
}

function isEntry(event: EventText): event is LogText {
  return event.id !== undefined;
}
