import type { AgentService, FollowSink, StreamEnd } from "../transport/agent-service.js";
import type { AgUiFrame } from "../wire/agent-event.js";
import type { ModelThread } from "./model-thread.js";
import { textsOf } from "./texts-of.js";

/** Something on its way: it arrives when the test says so, or it is lost. */
interface OnItsWay {
  arrive(): void;
  lose(): void;
}

interface ModelStream {
  readonly pending: AgUiFrame[];
  readonly sink: FollowSink;
  end(end: StreamEnd): void;
}

/** What clients and the service say to each other. Nothing arrives by itself; requests and answers may be lost, in any order. */
export function createModelNetwork(thread: ModelThread) {
  const onTheirWay: OnItsWay[] = [];
  const streams: ModelStream[] = [];
  const asked: ("follow" | "send" | "stop" | "poll")[] = [];

  /** A request, then its answer. `lost` is what the sender makes of silence. */
  function exchange<T>(ask: () => T, lost: T): Promise<T> {
    return new Promise((resolve) => {
      travel(
        () => {
          const answer = ask();
          travel(
            () => resolve(answer),
            () => resolve(lost),
          );
        },
        () => resolve(lost),
      );
    });
  }

  function travel(arrive: () => void, lose: () => void): void {
    const one: OnItsWay = {
      arrive: () => leave(arrive),
      lose: () => leave(lose),
    };
    function leave(then: () => void): void {
      onTheirWay.splice(onTheirWay.indexOf(one), 1);
      then();
    }
    onTheirWay.push(one);
  }

  function openStream(cursor: string | undefined, signal: AbortSignal, sink: FollowSink): Promise<StreamEnd> {
    const lost: StreamEnd = { kind: "failed", failure: { kind: "network" } };
    return new Promise((resolve) => {
      travel(
        () => {
          if (signal.aborted) return resolve(lost);
          const { frames, upTo } = thread.prelude(cursor);
          let read = upTo;
          const stream: ModelStream = {
            pending: [...frames],
            sink,
            end(end) {
              forget();
              streams.splice(streams.indexOf(stream), 1);
              resolve(end);
            },
          };
          const forget = thread.onFrames(take);
          function take(): void {
            stream.pending.push(...thread.frames.slice(read));
            read = thread.frames.length;
          }
          take();
          streams.push(stream);
          signal.addEventListener("abort", () => {
            if (streams.includes(stream)) stream.end(lost);
          });
          sink.opened();
        },
        () => resolve(lost),
      );
    });
  }

  const service: AgentService = {
    agents: () => Promise.resolve([]),
    follow([thread], signal, sink) {
      asked.push("follow");
      return openStream(thread?.cursor, signal, sink);
    },
    send(_thread, command) {
      asked.push("send");
      return exchange(() => thread.ask(command), { kind: "unreachable" });
    },
    stop(_thread, runId) {
      asked.push("stop");
      return exchange(() => {
        thread.stop(runId);
        return true;
      }, false);
    },
    poll() {
      asked.push("poll");
      return exchange(() => textsOf(thread.poll()), undefined);
    },
    renew: () => Promise.resolve(true),
  };

  function deliver(stream: ModelStream, count: number): void {
    const frames = stream.pending.splice(0, count);
    stream.sink.received();
    if (frames.length > 0) stream.sink.events(0, textsOf(frames));
  }

  return {
    service,
    /** What clients asked for, in order. */
    asked,
    streams: () => streams.length,
    /** One thing that is on its way arrives: a request, an answer, or some frames of a stream. */
    arrive(pick: number): void {
      const ready = streams.filter(({ pending }) => pending.length > 0);
      const at = pick % Math.max(1, onTheirWay.length + ready.length);
      const stream = ready[at - onTheirWay.length];
      if (stream) deliver(stream, 1 + (pick % 3));
      else onTheirWay[at]?.arrive();
    },
    lose(pick: number): void {
      onTheirWay[pick % Math.max(1, onTheirWay.length)]?.lose();
    },
    /** A stream breaks, or ends cleanly. */
    cut(pick: number): void {
      const stream = streams[pick % Math.max(1, streams.length)];
      stream?.end(pick % 2 === 0 ? { kind: "ended" } : { kind: "failed", failure: { kind: "network" } });
    },
    /** The service says that it is there. */
    beat(): void {
      for (const stream of [...streams]) stream.sink.received();
    },
    /** Everything that is on its way arrives, in the order it was sent. Says whether there was anything. */
    settle(): boolean {
      const had = onTheirWay.length > 0 || streams.some(({ pending }) => pending.length > 0);
      for (const one of [...onTheirWay]) one.arrive();
      for (const stream of [...streams])
        if (stream.pending.length > 0) deliver(stream, stream.pending.length);
      return had;
    },
  };
}
