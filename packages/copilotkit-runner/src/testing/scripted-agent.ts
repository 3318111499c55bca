import { AbstractAgent, type BaseEvent } from "@ag-ui/client";
import { Observable, type Subscriber } from "rxjs";

/** A stock agent that says what a test tells it to. */
export class ScriptedAgent extends AbstractAgent {
  aborts = 0;
  /** What the agent does when it is asked to stop. Default: nothing, as many do. */
  onAbort: (agent: ScriptedAgent) => void = () => {};
  #subscriber: Subscriber<BaseEvent> | undefined;
  #asked: () => void = () => {};
  readonly asked: Promise<void>;

  constructor(agentId = "chat") {
    super({ agentId });
    this.asked = new Promise((resolve) => {
      this.#asked = resolve;
    });
  }

  override run() {
    return new Observable<BaseEvent>((subscriber) => {
      this.#subscriber = subscriber;
      this.#asked();
    });
  }

  override abortRun() {
    this.aborts += 1;
    this.onAbort(this);
  }

  /** Emits these as soon as the runner has asked for them. */
  async says(...events: readonly object[]): Promise<void> {
    await this.asked;
    for (const event of events) this.#subscriber?.next(event as BaseEvent);
  }

  async ends(...events: readonly object[]): Promise<void> {
    await this.says(...events);
    this.#subscriber?.complete();
  }

  async fails(error: Error): Promise<void> {
    await this.asked;
    this.#subscriber?.error(error);
  }
}

export const started = { type: "RUN_STARTED", threadId: "other", runId: "other" };
export const finished = { type: "RUN_FINISHED", threadId: "other", runId: "other" };

export function text(messageId: string, ...deltas: readonly string[]): object[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant" },
    ...deltas.map((delta) => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta })),
  ];
}
