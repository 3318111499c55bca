export interface StockMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
}

export interface RunParameters {
  readonly runId?: string;
  readonly forwardedProps?: Record<string, unknown>;
  readonly resume?: readonly unknown[];
}

/** What the published agents have in common, whichever line of AG-UI they speak. */
export interface StockAgent {
  readonly messages: readonly StockMessage[];
  readonly state: unknown;
  addMessage(message: { id: string; role: "user"; content: string }): void;
  subscribe(subscriber: { onEvent(told: { event: object }): void }): { unsubscribe(): void };
  runAgent(parameters?: RunParameters): Promise<unknown>;
}

export interface StockHttpAgent extends StockAgent {
  url: string;
  /** Only on 1.0. */
  readonly pendingInterrupts?: readonly { readonly id: string }[];
}
