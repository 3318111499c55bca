import {
  type AccountApi,
  type AgentClientOptions,
  type AgentEvent,
  type AgentInfo,
  type AgentService,
  createAgentClient,
  createMemoryStorage,
  frontendTools,
  listAgents,
  statusPolling,
} from "@throughline/agent-client";
import { createSimulatedClock, type JsonObject } from "@throughline/ai-core";
import { act, type ReactNode } from "react";
import { createRoot, hydrateRoot, type Root } from "react-dom/client";
import { onTestFinished } from "vitest";

declare global {
  var IS_REACT_ACT_ENVIRONMENT: boolean;
}
// Tests flush React's work themselves.
globalThis.IS_REACT_ACT_ENVIRONMENT = true;

/** A stream as the service sees it. */
export interface FakeStream {
  readonly threadId: string;
  readonly isCut: () => boolean;
  tell(...events: readonly AgentEvent[]): void;
}

type Sent = Parameters<AgentService["send"]>[1];
type Answer = Awaited<ReturnType<AgentService["send"]>>;

/** The real client over a service whose every word is the test's, and frames that are drawn when the test says so. */
export function createFakePage(options: Partial<AgentClientOptions> = {}) {
  const streams: FakeStream[] = [];
  const sent: Sent[] = [];
  let agents: readonly AgentInfo[] = [];
  let questions = 0;
  let ids = 0;
  let drawing: (() => void)[] = [];
  let answers: Answer[] = [];

  const service: AgentService = {
    async agents() {
      questions += 1;
      return agents;
    },
    follow(threads, signal, sink) {
      return new Promise((resolve) => {
        for (const [at, { threadId }] of threads.entries()) {
          streams.push({
            threadId,
            isCut: () => signal.aborted,
            tell(...events) {
              const texts = events.map((event) => {
                ids += 1;
                return { id: `c${ids}`, data: JSON.stringify(event) };
              });
              sink.events(at, texts);
            },
          });
        }
        signal.addEventListener("abort", () => resolve({ kind: "failed", failure: { kind: "network" } }));
        sink.opened();
      });
    },
    async send(_, command) {
      sent.push(command);
      const [next, ...later] = answers;
      answers = later;
      return next ?? { kind: "accepted", serviceRunId: `service:${command.id}` };
    },
    stop: async () => true,
    poll: async () => undefined,
    renew: async () => true,
  };
  const client = createAgentClient({
    url: "/api",
    polling: statusPolling,
    tools: frontendTools,
    agents: listAgents,
    service,
    clock: createSimulatedClock(1_000_000),
    random: () => 0.5,
    storage: createMemoryStorage(),
    schedule(callback) {
      drawing.push(callback);
      return () => {
        drawing = drawing.filter((one) => one !== callback);
      };
    },
    ...options,
  });

  return {
    client,
    streams,
    sent,
    openStreams: () => streams.filter(({ isCut }) => !isCut()),
    offer(infos: readonly AgentInfo[]) {
      agents = infos;
    },
    questions: () => questions,
    /** What the service says to the next command, instead of accepting it. */
    answerNext(answer: Answer) {
      answers.push(answer);
    },
    /** One animation frame. */
    draw: () =>
      act(async () => {
        const due = drawing;
        drawing = [];
        for (const callback of due) callback();
      }),
  };
}

/** The service's own routes, with threads and files that are the test's. */
export function createFakeAccount(options: Partial<AccountApi> = {}): AccountApi {
  const unavailable = async () => ({ kind: "network" }) as const;
  return {
    caller: unavailable,
    visibility: unavailable,
    changeVisibility: unavailable,
    threads: unavailable,
    upload: unavailable,
    ...options,
  };
}

/** Renders into a document, and takes everything away when the test is over. */
export async function mount(tree: ReactNode) {
  const container = document.createElement("div");
  document.body.append(container);
  let root: Root | undefined;
  await act(async () => {
    root = createRoot(container);
    root.render(tree);
  });
  return mounted(container, root);
}

/** Takes up what a server rendered. `complaints`: what React found to differ. */
export async function hydrate(html: string, tree: ReactNode) {
  const container = document.createElement("div");
  container.innerHTML = html;
  document.body.append(container);
  const complaints: unknown[] = [];
  let root: Root | undefined;
  await act(async () => {
    root = hydrateRoot(container, tree, { onRecoverableError: (error) => complaints.push(error) });
  });
  return { ...mounted(container, root), complaints };
}

function mounted(container: HTMLElement, root: Root | undefined) {
  const unmount = () => act(async () => root?.unmount());
  onTestFinished(async () => {
    await unmount();
    container.remove();
  });
  return {
    container,
    text: () => container.textContent,
    render: (tree: ReactNode) => act(async () => root?.render(tree)),
    unmount,
  };
}

/** Calls hooks as a component does. */
export function Probe({ use }: { readonly use: () => unknown }): ReactNode {
  use();
  return null;
}

/** Frames of a thread that holds these messages and is idle. */
export function told(
  messages: readonly {
    readonly id: string;
    readonly role?: string;
    readonly content: string | readonly JsonObject[];
  }[],
): AgentEvent[] {
  return [
    started("told"),
    { type: "STATE_SNAPSHOT", snapshot: {} },
    { type: "MESSAGES_SNAPSHOT", messages: messages.map((message) => ({ role: "assistant", ...message })) },
    finished("told"),
  ];
}

export function started(runId: string): AgentEvent {
  return {
    type: "RUN_STARTED",
    threadId: "t",
    runId,
    metadata: { throughline: { runId: `service:${runId}`, attempt: 0 } },
  };
}

export function finished(runId: string): AgentEvent {
  return {
    type: "RUN_FINISHED",
    threadId: "t",
    runId,
    outcome: { type: "success" },
    metadata: { throughline: { runId: `service:${runId}`, status: "success" } },
  };
}

/** A tool's call as the model writes it, its arguments in pieces. */
export function calling(
  messageId: string,
  toolCallId: string,
  name: string,
  ...args: string[]
): AgentEvent[] {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: name, parentMessageId: messageId },
    ...args.map((delta): AgentEvent => ({ type: "TOOL_CALL_ARGS", toolCallId, delta })),
  ];
}

export function token(messageId: string, delta: string): AgentEvent {
  return { type: "TEXT_MESSAGE_CONTENT", messageId, delta };
}
