import { randomUUID } from "node:crypto";
import { HttpAgent as HttpAgent00 } from "@ag-ui/client";
import { HttpAgent as HttpAgent10 } from "@ag-ui/client-1";
import { CopilotKitCore } from "@copilotkit/core";
import type { RunParameters, StockAgent, StockHttpAgent, StockMessage } from "./stock-agent.js";

export type ClientKind = "HttpAgent 0.0.59" | "HttpAgent 1.0.0" | "CopilotKit 1.75.0";
export const CLIENT_KINDS: readonly ClientKind[] = [
  "HttpAgent 0.0.59",
  "HttpAgent 1.0.0",
  "CopilotKit 1.75.0",
];

/** What came in while a client ran or connected. */
export interface Heard {
  readonly types: string[];
  readonly errors: { readonly code: unknown; readonly metadata: unknown }[];
  /** Legacy questions, as the strings they come as. */
  readonly asked: string[];
  /** Of RUN_FINISHED. */
  readonly outcomes: unknown[];
}

/** A published client, nothing of it overridden: what it takes, what people have takes. */
export interface StockClient {
  readonly kind: ClientKind;
  readonly messages: readonly StockMessage[];
  readonly state: unknown;
  say(text: string, id?: string): void;
  run(parameters?: RunParameters): Promise<Heard>;
  connect(): Promise<Heard>;
  /** By the client's own means where it has any; `HttpAgent` can only leave, so there it is one request to the route. */
  stop(): Promise<void>;
  /** Resolves once something that matches came in. */
  heard(type: string): Promise<void>;
}

export interface StockClientOptions {
  readonly url: string;
  readonly agent: string;
  readonly threadId: string;
  readonly headers?: Record<string, string>;
}

/** A client as after a reload of its page: it knows its thread's name and nothing else. */
export function stockClient(kind: ClientKind, options: StockClientOptions): StockClient {
  switch (kind) {
    case "HttpAgent 0.0.59":
      return overHttp(kind, new HttpAgent00({ url: "", ...of(options) }), options);
    case "HttpAgent 1.0.0":
      return overHttp(kind, new HttpAgent10({ url: "", ...of(options) }), options);
    case "CopilotKit 1.75.0":
      return overCopilotKit(kind, options);
  }
}

const of = ({ threadId, headers = {} }: StockClientOptions) => ({ threadId, headers });

/** `HttpAgent` has one URL: connecting is running at the other one. */
function overHttp(kind: ClientKind, agent: StockHttpAgent, options: StockClientOptions): StockClient {
  const base = `${options.url}/api/copilotkit/agent/${options.agent}`;
  return listening(kind, agent, {
    async run(parameters) {
      agent.url = `${base}/run`;
      await agent.runAgent(parameters);
    },
    async connect() {
      agent.url = `${base}/connect`;
      await agent.runAgent();
    },
    async stop() {
      const answer = await fetch(`${base}/stop/${options.threadId}`, {
        method: "POST",
        ...(options.headers && { headers: options.headers }),
      });
      if (!answer.ok) throw new Error(`The stop was answered with ${answer.status}.`);
    },
  });
}

function overCopilotKit(kind: ClientKind, options: StockClientOptions): StockClient {
  const core = new CopilotKitCore({
    runtimeUrl: `${options.url}/api/copilotkit`,
    ...(options.headers && { headers: options.headers }),
  });
  // Where there is no window it does not look for agents by itself; a named one asks /info before its first request.
  const { agent } = core.registerProxiedAgent({
    agentId: "assistant",
    runtimeAgentId: `langgraph:${options.agent}`,
  });
  agent.threadId = options.threadId;
  return listening(kind, agent, {
    async run(parameters = {}) {
      let failure: unknown;
      // It tells its subscribers of a request that failed, and resolves.
      const subscription = core.subscribe({
        onError({ error }) {
          failure ??= error;
        },
      });
      // Both are CopilotKit's own parameters; its type of an answer is narrower than what it passes on.
      await core.runAgent({ agent, ...(parameters as { forwardedProps?: Record<string, unknown> }) });
      subscription.unsubscribe();
      // A RUN_ERROR is told to the agent's own subscribers too.
      if (failure && Object.hasOwn(failure, "status")) throw failure;
    },
    async connect() {
      await core.connectAgent({ agent });
    },
    async stop() {
      core.stopAgent({ agent });
    },
  });
}

interface Actions {
  run(parameters?: RunParameters): Promise<void>;
  connect(): Promise<void>;
  stop(): Promise<void>;
}

function listening(kind: ClientKind, agent: StockAgent, actions: Actions): StockClient {
  const waiting = new Set<{ type: string; resolve: () => void }>();

  async function hear(action: () => Promise<void>): Promise<Heard> {
    const heard: Heard = { types: [], errors: [], asked: [], outcomes: [] };
    const subscription = agent.subscribe({
      onEvent({ event }) {
        const { type, code, metadata, name, value, outcome }: Readonly<Record<string, unknown>> = {
          ...event,
        };
        heard.types.push(String(type));
        if (type === "RUN_ERROR") heard.errors.push({ code, metadata });
        if (type === "CUSTOM" && name === "on_interrupt") heard.asked.push(String(value));
        if (type === "RUN_FINISHED") heard.outcomes.push(outcome);
        for (const waiter of waiting) if (waiter.type === type) waiter.resolve();
      },
    });
    try {
      await action();
    } finally {
      subscription.unsubscribe();
    }
    return heard;
  }

  return {
    kind,
    get messages() {
      return agent.messages;
    },
    get state() {
      return agent.state;
    },
    say: (content, id = randomUUID()) => agent.addMessage({ id, role: "user", content }),
    run: (parameters) => hear(() => actions.run(parameters)),
    connect: () => hear(actions.connect),
    stop: actions.stop,
    heard: (type) => new Promise((resolve) => waiting.add({ type, resolve })),
  };
}
