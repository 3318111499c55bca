import { AgentRunner } from "@copilotkit/runtime/v2";
import { Observable } from "rxjs";
import { createRunner, type EventSource, type Runner, type RunnerOptions } from "./runner.js";

type Run = AgentRunner["run"];
type Connect = AgentRunner["connect"];
type IsRunning = AgentRunner["isRunning"];
type Stop = AgentRunner["stop"];
type Events = ReturnType<Run>;
type AgentEvent = Events extends Observable<infer Event> ? Event : never;

/**
 * Stores the runs of CopilotKit's runtime in a log that every instance reads: `new CopilotRuntime({ agents, runner })`. A run
 * continues when its subscribers leave, and any instance can show, stop or, if its process died, end it.
 */
export class ThroughlineRunner extends AgentRunner {
  readonly #runner: Runner;

  constructor(options: RunnerOptions = {}) {
    super();
    this.#runner = createRunner(options);
  }

  override run({ threadId, agent, input }: Parameters<Run>[0]): Events {
    return observe(this.#runner.run({ threadId, agent, input }));
  }

  override connect({ threadId, headers }: Parameters<Connect>[0]): Events {
    return observe(this.#runner.connect({ threadId, headers }));
  }

  override isRunning({ threadId }: Parameters<IsRunning>[0]): Promise<boolean> {
    return this.#runner.isRunning(threadId);
  }

  override stop({ threadId, runId }: Parameters<Stop>[0]): Promise<boolean> {
    return this.#runner.stop(threadId, runId);
  }

  /** Ends this instance's runs with the error `shutting_down`, and closes its connections. */
  close(): Promise<void> {
    return this.#runner.close();
  }
}

function observe(source: EventSource): Events {
  return new Observable<AgentEvent>((subscriber) => {
    const left = new AbortController();
    void (async () => {
      // Plain JSON of the events that an agent emitted, or of the same types made here.
      for await (const event of source(left.signal)) subscriber.next(event as unknown as AgentEvent);
      subscriber.complete();
    })();
    return () => left.abort();
  });
}
