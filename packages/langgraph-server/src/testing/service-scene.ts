import { randomUUID } from "node:crypto";
import type { Caller, Message } from "@throughline/ai-core";
import type { StartRunRequest } from "../runs/start-request.js";
import { createService, type Service, type ServiceOptions } from "../server/create-service.js";
import type { EncoderOptions, SubscribeFrom } from "../streams/stream-types.js";

import type { RunInput } from "../threads/run-spec.js";
import { type ThreadAddress, threadAddress } from "../threads/thread-address.js";
import { catalogGraphs } from "./catalog-graphs.js";
import { type FrameRecorder, recordFrames } from "./frame-recorder.js";

export const ann: Caller = { billingAccountId: "acme", virtualKeyId: "key-1", traceId: "trace-1" };

export const agUi: EncoderOptions = { kind: "ag-ui", line: "0.0", interrupts: "legacy" };

export interface ServiceScene {
  readonly service: Service;
  readonly failures: readonly unknown[];
  /** A new thread. */
  thread(graphName: string): ThreadAddress;
  watch(
    thread: ThreadAddress,
    from: SubscribeFrom,
    options?: { follow?: boolean; face?: EncoderOptions },
  ): RecordedSubscription;
  /** Starts a run and watches it to its end. */
  run(
    thread: ThreadAddress,
    input: RunInput | string,
    more?: Partial<StartRunRequest>,
  ): Promise<FrameRecorder>;
  close(): Promise<void>;
}

export interface RecordedSubscription extends FrameRecorder {
  leave(): void;
}

export async function openServiceScene(options: Partial<ServiceOptions> = {}): Promise<ServiceScene> {
  const failures: unknown[] = [];
  const service = await createService({
    store: { kind: "memory" },
    graphs: catalogGraphs(),
    ...options,
    observer: { failed: (message, error) => void failures.push([message, error]), ...options.observer },
  });
  const watch: ServiceScene["watch"] = (thread, from, { follow = false, face = agUi } = {}) => {
    const recorder = recordFrames();
    const { leave } = service.hub.subscribe(thread, { face, from, follow }, recorder);
    return { ...recorder, leave };
  };
  return {
    service,
    failures,
    thread: (graphName) => threadAddress(ann, graphName, `thread ${randomUUID()}`),
    watch,
    async run(thread, input, more) {
      const outcome = await service.runs.start(startRequest(thread, input, more));
      if (outcome.kind !== "started") throw new Error(`Expected a run to start, it is ${outcome.kind}.`);
      const watching = watch(thread, { kind: "run", runId: outcome.run.runId, isNew: true });
      await watching.ended;
      return watching;
    },
    close: () => service.close({ drainMs: 5_000 }),
  };
}

export function startRequest(
  thread: ThreadAddress,
  input: RunInput | string,
  more: Partial<StartRunRequest> = {},
): StartRunRequest {
  return {
    thread,
    caller: ann,
    ingressRequestId: randomUUID(),
    input: typeof input === "string" ? { kind: "input", messages: [userMessage(input)] } : input,
    tools: [],
    context: [],
    profile: "user",
    strategy: "reject",
    ...more,
  };
}

export function userMessage(text: string, id: string = randomUUID()): Message {
  return { id, role: "user", content: text };
}
