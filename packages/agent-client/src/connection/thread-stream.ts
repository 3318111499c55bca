import type { Clock } from "@throughline/ai-core";
import { createNamedTimers, type Telemetry } from "../client/environment.js";
import { retainIdentity } from "../client/store.js";
import type { AgentService, FollowedThread, LogEntryText, ThreadName } from "../transport/agent-service.js";
import type { SseText } from "../transport/event-stream.js";
import {
  type Connection,
  type ConnectionEffect,
  type ConnectionInput,
  type ConnectionPolicy,
  type ConnectionStatus,
  closedConnection,
  type Moment,
  type RequestFailure,
  transitionConnection,
} from "./connection-state.js";
import {
  attach,
  detach,
  isAsked,
  newSubscription,
  resync,
  type Subscription,
  statusOf,
} from "./subscription-state.js";

/** The reader of one thread on the browser's stream. */
export interface StreamReader {
  readonly thread: Omit<FollowedThread, "cursor">;
  /** A stream requests the thread. Returns the cursor to resume from; frames of an earlier stream no longer count. */
  begin(): string | undefined;
  events(events: readonly SseText[]): void;
  /** The stream that carried it is closed. */
  end(): void;
  statusChanged(): void;
}

export interface StreamSubscription {
  status(): ConnectionStatus;
  /** Reports that the service could not resume from the cursor and sent a snapshot. */
  gap(): void;
  /** Requests the thread again, after a frame that did not fit the projection. */
  resync(): void;
  /** Requests it now instead of after the backoff, also after a refusal. */
  reconnect(): void;
  leave(): void;
}

/** One stream for all threads that a browser follows. It is reopened, with the current cursors, when the set of threads changes. */
export interface ThreadStream {
  subscribe(reader: StreamReader): StreamSubscription;
  notify(input: Extract<ConnectionInput, { kind: "online" | "visible" }>): void;
  close(): void;
}

export interface ThreadStreamOptions {
  readonly service: AgentService;
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

/** Codes that the service sends to all subscriptions before it ends the stream: they are the end of the stream itself. */
const ENDS_ALL = new Set(["unauthorized", "shutting_down"]);

export function createThreadStream(options: ThreadStreamOptions): ThreadStream {
  const { service, clock, policy, telemetry } = options;
  const followed = new Set<Followed>();
  let connection: Connection = closedConnection;
  let isReplacing = false;
  let open:
    | { readonly stream: number; readonly cut: AbortController; readonly carried: readonly Followed[] }
    | undefined;
  const timers = createNamedTimers<"retry" | "watchdog" | "ask">(clock, (timer) => {
    if (timer === "ask") retryDue();
    else step({ kind: "due", timer });
  });

  function moment(): Moment {
    return { now: clock.now(), random: options.random() };
  }

  function step(input: ConnectionInput): void {
    const [next, effects] = transitionConnection(connection, input, moment(), policy);
    connection = next;
    for (const effect of effects) perform(effect);
    notifyStatuses();
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
    let failure: RequestFailure | undefined;
    const end = await service.follow(threads, cut.signal, {
      opened() {
        if (!isOpen()) return;
        for (const one of carried) one.subscription = attach(one.subscription, stream, clock.now());
        step({ kind: "opened", stream });
      },
      received() {
        // Not a step: receiving changes no status.
        if (isOpen())
          [connection] = transitionConnection(connection, { kind: "received", stream }, moment(), policy);
      },
      events(at, events) {
        const one = carried[at];
        if (one && isRead(one)) one.reader.events(events);
      },
      ended(at, refusal) {
        const one = carried[at];
        if (ENDS_ALL.has(refusal.code)) failure = refusal;
        else if (one && isRead(one)) refuse(one, refusal);
      },
    });
    closeStream(stream);
    step(failure ? { kind: "failed", stream, failure } : { ...end, stream });
  }

  function refuse(one: Followed, failure: Extract<RequestFailure, { kind: "refused" }>): void {
    one.subscription = detach(one.subscription, failure, moment(), policy);
    one.reader.end();
    armRetry();
    // The service ends a stream without subscriptions, and it must not be requested again.
    if (!isWanted()) changed();
    notifyStatuses();
  }

  function isWanted(): boolean {
    return [...followed].some(({ subscription }) => isAsked(subscription));
  }

  /** Sets the one timer of all subscriptions that wait for a retry: it fires for the first of them. */
  function armRetry(): void {
    const times = [...followed].flatMap(({ subscription: { retryAt } }) => retryAt ?? []);
    timers.set("ask", Math.min(...times) - clock.now());
  }

  function retryDue(): void {
    for (const one of followed) {
      const { retryAt } = one.subscription;
      if (retryAt !== undefined && retryAt <= clock.now())
        one.subscription = { ...one.subscription, retryAt: undefined };
    }
    armRetry();
    changed();
  }

  /** Replaces the stream, once for all subscriptions that are added and removed in one turn. */
  function changed(): void {
    if (isReplacing) return;
    isReplacing = true;
    queueMicrotask(() => {
      isReplacing = false;
      step({ kind: isWanted() ? "replace" : "close" });
    });
  }

  function notifyStatuses(): void {
    for (const one of followed) {
      const status = retainIdentity(one.status, statusOf(one.subscription, connection));
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
          notifyStatuses();
        },
        resync() {
          one.subscription = resync(one.subscription, moment(), policy);
          one.reader.end();
          armRetry();
          changed();
          notifyStatuses();
        },
        reconnect() {
          one.subscription = { ...one.subscription, failure: undefined, retryAt: undefined, attempt: 0 };
          armRetry();
          if (connection.status.kind === "live" || connection.status.kind === "closed") changed();
          else step({ kind: "reconnect" });
          notifyStatuses();
        },
        leave() {
          if (followed.delete(one)) changed();
        },
      };
    },
    notify: step,
    close() {
      followed.clear();
      step({ kind: "close" });
      timers.clearAll();
    },
  };
}

/** The reader of a thread's log. */
export interface LogReader {
  /** The position up to which entries are held; `undefined`: none. */
  cursor(): string | undefined;
  entries(entries: readonly LogEntryText[]): void;
  statusChanged(status: ConnectionStatus): void;
}

/** Reads a thread's log. Returns a function that stops reading. */
export function openLog(stream: ThreadStream, thread: ThreadName, reader: LogReader): () => void {
  const subscription = stream.subscribe({
    thread: { ...thread, view: "envelopes" },
    begin: () => reader.cursor(),
    events: (events) => reader.entries(events.filter(isEntry)),
    end() {},
    statusChanged: () => reader.statusChanged(subscription.status()),
  });
  return () => subscription.leave();
}

function isEntry(event: SseText): event is LogEntryText {
  return event.id !== undefined;
}
