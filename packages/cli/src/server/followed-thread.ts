import {
  type AgUiFrame,
  type CommandOutcome,
  type ConnectionStatus,
  createAgentClient,
  createMemoryStorage,
  type FrameScheduler,
  type ThreadHandle,
  type ThreadView,
} from "@throughline/agent-client";
import { isErrorCode, ThroughlineError } from "@throughline/ai-core";
import type { Refusal } from "../transcript/reduce-frame.js";
import type { ServerClient } from "./api-client.js";

/** The option of `run`, `watch` and `stop`. */
export const SHARED_OPTION = {
  shared: { type: "boolean", doc: "the account's thread of that name, not your own" },
} as const;

/** The flag by which another command addresses the same thread. */
export function sharedFlag(isShared = false): string {
  return isShared ? " --shared" : "";
}

export interface FollowOptions {
  readonly agent: string;
  readonly thread: string;
  readonly isShared?: boolean | undefined;
  readonly onFrames?: (frames: readonly AgUiFrame[]) => void;
  /** The connection broke; it is tried again until the person leaves. */
  readonly onLost?: () => void;
  readonly onFoundAgain?: () => void;
}

/** One thread of a server, followed until it is closed. */
export interface FollowedThread {
  readonly handle: ThreadHandle;
  /** Resolves when the current state of the thread has arrived; rejects as `failed` does. */
  readonly ready: Promise<void>;
  /** Rejects when the thread can't be followed: a wrong address, a refusal. It never resolves. */
  readonly failed: Promise<never>;
  close(): void;
}

/** The retry times. A person waits: the first retries are quick, and none is far away. */
const CONNECTION_POLICY = { firstRetryMs: 250, maxRetryMs: 5_000, silenceMs: 20_000 };

/** Notifies in a microtask: at once, but after the frames of the change. */
const soon: FrameScheduler = (callback) => {
  let isWanted = true;
  queueMicrotask(() => {
    if (isWanted) callback();
  });
  return () => {
    isWanted = false;
  };
};

export function followThread(server: ServerClient, options: FollowOptions): FollowedThread {
  const client = createAgentClient({
    url: `${server.url}/api/copilotkit`,
    headers: () => server.headers,
    links: true,
    connectionPolicy: CONNECTION_POLICY,
    schedule: soon,
    storage: createMemoryStorage(),
  });
  const handle = client.thread(options.agent, options.thread, options.isShared ? "account" : undefined);
  let markReady = () => {};
  let fail: (error: unknown) => void = () => {};
  const ready = new Promise<void>((resolve) => {
    markReady = resolve;
  });
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const readyOrFailed = Promise.race([ready, failed]);
  // A failure that nothing waits for must not end the process.
  for (const each of [failed, readyOrFailed]) each.catch(() => {});
  let wasLive = false;
  let isLost = false;

  function onChange(): void {
    const { view, connection } = handle.getSnapshot();
    if (hasState(view)) markReady();
    switch (connection.kind) {
      case "live":
      case "gap-repaired":
        wasLive = true;
        if (isLost) options.onFoundAgain?.();
        isLost = false;
        break;
      case "reconnecting":
        // A wrong address is reported at once.
        if (!wasLive) void explain(server).catch(fail);
        else if (!isLost) {
          isLost = true;
          options.onLost?.();
        }
        break;
      case "failed":
        void explain(server).then(() => fail(sendRefusal(connection)), fail);
        break;
    }
  }

  const stopReading = handle.frames((frames) => options.onFrames?.(frames));
  const unsubscribe = handle.subscribe(onChange);
  const leave = handle.open();
  return {
    handle,
    ready: readyOrFailed,
    failed,
    close() {
      stopReading();
      unsubscribe();
      leave();
      client.close();
    },
  };
}

/** Whether the view knows if a run is open. A run with an id of the service's own (`throughline:`) only carries the prelude. */
function hasState({ run }: ThreadView): boolean {
  return run !== null && (run.status !== "running" || !run.serviceRunId.startsWith("throughline:"));
}

/** Sends a simple request, whose error explains why the connection failed. */
async function explain(server: ServerClient): Promise<void> {
  await server.request("GET", "/api/copilotkit/info");
}

function sendRefusal({ reason, message }: Extract<ConnectionStatus, { kind: "failed" }>): ThroughlineError {
  return new ThroughlineError(isErrorCode(reason) ? reason : "internal", message);
}

export const CONNECTION_LOST = "The connection is lost; trying again. Ctrl-C gives up.";
export const CONNECTED_AGAIN = "Connected again.";

/** Throws unless the outcome confirms that the run was stopped. */
export function checkStopped(outcome: CommandOutcome): void {
  if (outcome.kind !== "stopped") throw new Error("The server does not say whether the run was stopped.");
}

/** Why a command did nothing; `undefined` where it did something. */
export function refusalOf(outcome: CommandOutcome): Refusal | undefined {
  switch (outcome.kind) {
    case "refused":
      return outcome;
    case "busy":
      return { code: "busy", message: "Another run is active in this thread." };
    case "unreachable":
      return {
        code: "unreachable",
        message: "The server does not answer: whether the run began is not known.",
      };
    default:
      return undefined;
  }
}
