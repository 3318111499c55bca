import {
  type AgentSubscriber,
  EventType,
  type RunAgentInput,
  type RunAgentParameters,
  type RunAgentResult,
  type RunErrorEvent,
  randomUUID,
} from "@ag-ui/client";
import type { Run, ThreadState } from "@langchain/langgraph-sdk";
import { Observable, type Subscriber } from "rxjs";
import {
  ConnectFailure,
  lastEventId,
  lastEventOf,
  objectOf,
  propertyOf,
  threadIdOf,
} from "./connect-input.js";
import { canJoin, findActiveRun, followRun, pollRun, type RunChunk } from "./follow-run.js";
import { type ProcessedEvents, LangGraphAgent as PublishedAgent } from "./index.mjs";
import { createReplayFold, type ReplayFold } from "./replay-fold.js";
import { modelMessageOf, replayThenLive } from "./replay-then-live.js";
import { connectError, failureIn } from "./run-failure.js";
import { createRunOutlet, type RunOutlet } from "./run-outlet.js";
import { messagesSnapshot, readSnapshot, type ThreadSnapshot } from "./thread-snapshot.js";

/** What connect asks the pipeline to read; the server sends what the run was created with. */
const STREAM_MODES = ["events", "values", "updates", "messages-tuple"] as const;

type StreamArguments = Parameters<PublishedAgent["handleStreamEvents"]>;
type PreparedStream = Extract<StreamArguments[0], object>;

interface Connection {
  readonly threadId: string;
  readonly runId: string;
  readonly input: RunAgentInput;
  readonly subscriber: Subscriber<ProcessedEvents>;
  readonly outlet: RunOutlet;
  readonly signal: AbortSignal;
}

/** LangGraphAgent with `connect()`, and with runs that are well-formed however they end. */
export class LangGraphAgent extends PublishedAgent {
  /** The run on the server. Its id is known once the server has answered, which is before its first event. */
  private serverRun: { readonly threadId: string; readonly runId: string } | undefined;
  /** The id of the last stream event that the pipeline has handled. */
  private lastHandled: string | undefined;
  private stopRequested = false;
  private outlet: RunOutlet | undefined;
  /** The failure that an idle thread's state holds; reported in the metadata of RUN_FINISHED. */
  private lastFailure: RunErrorEvent | undefined;
  /** Folds the events of a run that connect() has joined; undefined while a run of ours streams. */
  private replay: { readonly fold: ReplayFold; live: boolean; source: string | undefined } | undefined;

  override run(input: RunAgentInput): Observable<ProcessedEvents> {
    return new Observable((target) => {
      const detached = new AbortController();
      const outlet = createRunOutlet(target, input.messages);
      this.begin(outlet);
      const hooks = {
        signal: detached.signal,
        onRunCreated: (run: { run_id: string; thread_id?: string }) =>
          this.runIsKnown(run.thread_id ?? input.threadId, run.run_id),
      };
      // The SDK reads its hooks from the payload, into which forwardedProps are spread.
      const forwardedProps = { ...objectOf(input.forwardedProps), ...hooks };
      const running = super.run({ ...input, forwardedProps }).subscribe(outlet);
      return () => {
        detached.abort();
        running.unsubscribe();
      };
    });
  }

  /**
   * Shows a thread to a client that starts nothing: its state and messages, then, if a run is active, that run until it
   * ends. Failures are told as RUN_ERROR. Unsubscribing detaches; the run goes on.
   */
  override connect(input: RunAgentInput): Observable<ProcessedEvents> {
    return new Observable((target) => {
      const detached = new AbortController();
      const outlet = createRunOutlet(target, input.messages, connectError);
      this.begin(outlet);
      const following = new Observable<ProcessedEvents>((subscriber) => {
        this.followThread(input, subscriber, outlet, detached.signal).catch((error) =>
          subscriber.error(error),
        );
      }).subscribe({
        next: (event) => this.forward(event, outlet),
        error: (error) => outlet.error(error),
        complete: () => outlet.complete(),
      });
      return () => {
        detached.abort();
        following.unsubscribe();
      };
    });
  }

  /** An agent that ended with a question may connect again: connect() announces what is still open. */
  override connectAgent(
    parameters?: RunAgentParameters,
    subscriber?: AgentSubscriber,
  ): Promise<RunAgentResult> {
    if (!parameters?.resume?.length) this.pendingInterrupts = [];
    return super.connectAgent(parameters, subscriber);
  }

  /**
   * Stops the run on the server. The published method cancels by the client's run id while the server's is unknown, which
   * stops nothing; here the stop waits for the id, and a run that is not created yet is not created.
   */
  override abortRun(): void {
    this.stopRequested = true;
    if (this.serverRun !== undefined) this.cancel(this.serverRun);
  }

  override dispatchEvent(event: ProcessedEvents): boolean {
    if (event.type === EventType.RUN_FINISHED && this.lastFailure !== undefined) {
      const { code, message } = this.lastFailure;
      const langgraph = { lastRun: { status: "error", error: { code, message } } };
      return super.dispatchEvent({ ...event, metadata: { ...event.metadata, langgraph } });
    }
    if (event.type !== EventType.RAW || this.serverRun === undefined || this.lastHandled === undefined)
      return super.dispatchEvent(event);
    const position = { lastEventId: lastEventId(this.serverRun.runId, this.lastHandled) };
    const langgraph = { ...objectOf(event.metadata?.langgraph), ...position };
    return super.dispatchEvent({ ...event, metadata: { ...event.metadata, langgraph } });
  }

  override async handleStreamEvents(
    ...[stream, threadId, subscriber, ...rest]: StreamArguments
  ): Promise<void> {
    if (!stream) return;
    if (this.stopRequested && this.serverRun === undefined) {
      // The SDK creates the run when its stream is first read.
      const runId = this.activeRun?.id ?? randomUUID();
      this.dispatchEvent({ type: EventType.RUN_STARTED, threadId, runId });
      this.dispatchEvent({ type: EventType.RUN_FINISHED, threadId, runId });
      delete this.activeRun;
      return subscriber.complete();
    }
    const streamResponse = this.watch(stream.streamResponse);
    return super.handleStreamEvents({ ...stream, streamResponse }, threadId, subscriber, ...rest);
  }

  private begin(outlet: RunOutlet): void {
    this.outlet = outlet;
    this.serverRun = undefined;
    this.lastHandled = undefined;
    this.stopRequested = false;
    this.replay = undefined;
    this.lastFailure = undefined;
  }

  private async *watch<Chunk extends RunChunk>(source: AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
    // Those of this stream: the agent may have another by the time that this one ends.
    const { outlet, replay } = this;
    try {
      for await (const chunk of source) {
        const runId = chunk.event === "metadata" ? propertyOf(objectOf(chunk.data), "run_id") : undefined;
        if (typeof runId === "string") this.runIsKnown(this.activeRun?.threadId, runId);
        if (replay !== undefined) {
          replay.source = modelMessageOf(chunk);
          await this.tellCommitted(chunk, replay.fold);
        }
        yield chunk;
        this.lastHandled = chunk.id ?? this.lastHandled;
      }
    } finally {
      // Before the snapshots that end a run: a client would look for the open message in them.
      outlet?.closeMessages();
      replay?.fold.forgetPartial();
    }
  }

  private runIsKnown(threadId: string | undefined, runId: string): void {
    if (threadId === undefined || this.serverRun !== undefined) return;
    this.serverRun = { threadId, runId };
    if (this.stopRequested) this.cancel(this.serverRun);
  }

  private cancel({ threadId, runId }: { readonly threadId: string; readonly runId: string }): void {
    this.client.runs.cancel(threadId, runId).catch((error: unknown) => {
      console.error(`[LangGraph] run ${runId} could not be stopped:`, error);
    });
  }

  private async followThread(
    input: RunAgentInput,
    subscriber: Subscriber<ProcessedEvents>,
    outlet: RunOutlet,
    signal: AbortSignal,
  ): Promise<void> {
    const threadId = threadIdOf(input);
    if (threadId === undefined) {
      throw new ConnectFailure(
        "THREAD_ID_MISSING",
        "connect() needs a thread: pass threadId, or forwardedProps.config.configurable.thread_id.",
      );
    }
    // Before the state is read: of a run that ends in between, the state then has everything.
    const run = await findActiveRun(this.client, threadId, signal);
    const runId = run?.run_id ?? randomUUID();
    const connection = { threadId, runId, input, subscriber, outlet, signal };
    this.subscriber = subscriber;
    this.activeRun = {
      id: runId,
      threadId,
      hasFunctionStreaming: false,
      modelMadeToolCall: false,
      usage: [],
    };
    // What an earlier stream of this instance left half-said is said again by the replay.
    this.messagesInProcess = {};
    this.reasoningProcess = null;
    if (run !== undefined) this.runIsKnown(threadId, runId);
    this.dispatchEvent({ type: EventType.RUN_STARTED, threadId, runId });
    this.assistant ??= await this.getAssistant();
    this.activeRun.schemaKeys = await this.getSchemaKeys();
    const snapshot = await readSnapshot(this, threadId);
    if (run !== undefined && canJoin(run)) return this.join(connection, snapshot);
    this.tell(snapshot);
    if (run === undefined) this.concludeIdle(connection, snapshot.state);
    else await this.poll(connection, snapshot);
  }

  /** Forwards the run's own events: replayed ones folded into a prelude, then one by one as they come. */
  private async join(
    { threadId, runId, input, subscriber, outlet, signal }: Connection,
    at: ThreadSnapshot,
  ): Promise<void> {
    const read = lastEventOf(input);
    const until = read?.runId === undefined || read.runId === runId ? read?.position : undefined;
    const fold = createReplayFold(at.messages, { seen: until !== undefined });
    const replay = { fold, live: false, source: undefined };
    this.replay = replay;
    if (this.activeRun && this.assistant)
      this.activeRun.graphInfo = await this.client.assistants.getGraph(this.assistant.assistant_id);
    const run = followRun(this.client, { threadId, runId }, signal, async (ended) => {
      const failed = ended?.status === "error" || ended?.status === "timeout";
      const failure = failed
        ? failureIn((await readSnapshot(this, threadId)).state, ended.status)
        : undefined;
      if (failure !== undefined) outlet.fail(failure);
    });
    const chunks = replayThenLive(run, {
      until,
      live: () => {
        Object.assign(replay, { live: true });
        const [state] = at.events;
        if (state !== undefined) outlet.next(state);
        for (const event of fold.prelude()) outlet.next(event);
      },
    });
    // The SDK types the stream of a joined run by its events' names only.
    const streamResponse = chunks as unknown as PreparedStream["streamResponse"];
    const stream = { streamResponse, state: { ...at.state } };
    await this.handleStreamEvents(stream, threadId, subscriber, { ...input, threadId }, [...STREAM_MODES]);
  }

  /** Follows a run that can't be joined by its checkpoints. */
  private async poll(connection: Connection, at: ThreadSnapshot): Promise<void> {
    const { threadId, signal } = connection;
    let last = at;
    const run = await pollRun(this.client, connection, signal, async () => {
      const snapshot = await readSnapshot(this, threadId);
      const moved = snapshot.state.checkpoint?.checkpoint_id !== last.state.checkpoint?.checkpoint_id;
      last = snapshot;
      if (moved) this.tell(snapshot);
    });
    if (!signal.aborted) this.conclude(connection, last.state, run?.status);
  }

  private tell({ events }: ThreadSnapshot): void {
    for (const event of events) this.dispatchEvent(event);
  }

  /** How the run ended is the run's and the state's to say: the end of a stream looks alike in all cases. */
  private conclude(connection: Connection, state: ThreadState, status?: Run["status"]): void {
    const failure = failureIn(state, status);
    if (failure !== undefined) connection.outlet.fail(failure);
    this.finish(connection, failure === undefined ? state : { ...state, tasks: [] });
  }

  /**
   * Ends a connection that watched no run. A failure that the state still holds is the outcome of an earlier run, not of
   * this one: RUN_ERROR would report it as new each time the thread is opened.
   */
  private concludeIdle(connection: Connection, state: ThreadState): void {
    this.lastFailure = failureIn(state);
    this.finish(connection, state);
  }

  private finish({ threadId, runId, subscriber }: Connection, state: ThreadState): void {
    const lgInterrupts = state.tasks.flatMap((task) => task.interrupts);
    if (lgInterrupts.length > 0) {
      // biome-ignore lint/complexity/useLiteralKeys: private in the published class.
      this["dispatchInterruptFinish"]({ threadId, runId, lgInterrupts });
    } else {
      this.dispatchEvent({ type: EventType.RUN_FINISHED, threadId, runId });
    }
    delete this.activeRun;
    subscriber.complete();
  }

  private forward(event: ProcessedEvents, outlet: RunOutlet): void {
    const { replay } = this;
    const told = replay === undefined ? event : replay.fold.take(event, replay.source);
    if (told === undefined) return;
    // The outlet keeps a failure to itself until the end.
    if (replay === undefined || replay.live || told.type === EventType.RUN_ERROR) outlet.next(told);
  }

  /**
   * Messages that the run has written to the thread meanwhile, such as what a person said to start it. The pipeline reads
   * them only at the run's end, when they would stand after the answer.
   */
  private async tellCommitted({ event, data }: RunChunk, fold: ReplayFold): Promise<void> {
    const values = event === "values" ? objectOf(data) : undefined;
    const messages = propertyOf(values, "messages");
    if (!Array.isArray(messages) || !fold.isNew(messages.map((message) => message?.id))) return;
    const snapshot = await messagesSnapshot(this, messages);
    if (snapshot !== undefined) this.dispatchEvent(snapshot);
  }
}
