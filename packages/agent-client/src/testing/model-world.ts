import { createSimulatedClock } from "@throughline/ai-core";
import type { Telemetry } from "../client/environment.js";
import { createThreadController, type MovableController } from "../client/thread-controller.js";
import { handedCommands } from "../commands/adopt-scheduler.js";
import type { Command, CommandOutcome } from "../commands/command.js";
import { newId } from "../commands/mutation-ids.js";
import type { PendingSync } from "../commands/pending-sync.js";
import { DEFAULT_COMMAND_POLICY } from "../commands/scheduler-state.js";
import { DEFAULT_CONNECTION_POLICY } from "../connection/connection-state.js";
import { createThreadStream, type ThreadStream } from "../connection/thread-stream.js";
import { DEFAULT_POLL_POLICY, statusPolling } from "../polling/agent-status-poller.js";

import type { AgentService } from "../transport/agent-service.js";
import { createModelNetwork } from "./model-network.js";
import { createModelThread, type ModelThread } from "./model-thread.js";

/** A law that was broken, in words. */
export type Breach = string;

interface Submitted {
  readonly command: Command;
  /** The run that was seen to be open. */
  readonly seen: ReturnType<ModelThread["openRun"]>;
  outcome: CommandOutcome | undefined;
}

/** One person's page: its line, which a reload or another tab may replace, and what survives that. */
export interface ModelPage {
  line(): MovableController;
  submit(kind: "run" | "queue" | "retry" | "sync" | "fire" | "stop"): void;
  reload(): void;
  /** Another tab goes on with what this one held; this one, frozen, notices late. */
  handOver(): void;
  /** Another tab goes on with what this one gives away, its commands included. */
  yield(): void;
  close(): void;
  reopen(): void;
  setOnline(isOnline: boolean): void;
  submitted: readonly Submitted[];
}

/** A thread, a network and pages that look at it. Time and everything that is on its way move only when told to. */
export function createModelWorld(pages: number) {
  const clock = createSimulatedClock(1_700_000_000_000);
  const thread = createModelThread();
  const network = createModelNetwork(thread);
  const breaches: Breach[] = [];
  const parts = { clock, thread, service: network.service, breaches };
  return {
    clock,
    thread,
    network,
    breaches,
    pages: Array.from({ length: pages }, (_, n) => createPage(`page${n}`, parts)),
  };
}

function createPage(
  name: string,
  {
    clock,
    thread,
    service,
    breaches,
  }: {
    readonly clock: ReturnType<typeof createSimulatedClock>;
    readonly thread: ModelThread;
    readonly service: AgentService;
    readonly breaches: Breach[];
  },
): ModelPage {
  let owed: PendingSync | undefined;
  let isOnline = true;
  /** Also by a line that was handed over since. */
  const stopped = new Set<string | undefined>();
  let stream: ThreadStream;
  let line = createLine();
  let release: (() => void) | undefined = line.open();
  const submitted: Submitted[] = [];
  let polledAt: number | undefined;
  const poller = statusPolling({
    clock,
    random: () => 0.5,
    policy: DEFAULT_POLL_POLICY,
    async poll() {
      if (release) breaches.push(`${name}: was polled while it was open`);
      const began = clock.now();
      // One that was not answered in time is given up on, not waited for.
      if (polledAt !== undefined && began - polledAt < DEFAULT_POLL_POLICY.answerMs)
        breaches.push(`${name}: was polled twice at once`);
      polledAt = began;
      const ok = await line.poll();
      if (polledAt === began) polledAt = undefined;
      return ok;
    },
  });
  poller.update({ kind: "open", keys: ["thread"] });
  poller.update({ kind: "watch", keys: ["thread"] });

  function createLine(): MovableController {
    const sending = new Set<string>();
    const settled = new Set<string>();
    let epoch = 0;
    const watched: AgentService = {
      ...service,
      async send(name_, command, circumstances) {
        // What becomes of a run may be seen before its answer; and what was stopped is waited for no longer than a bound.
        const isOver = (id: string) => {
          const status = thread.runs.get(id)?.status ?? "running";
          return stopped.has(id) || settled.has(id) || status !== "running";
        };
        const beside = [...sending].filter((id) => id !== command.id && !isOver(id));
        if (beside.length > 0) breaches.push(`${command.id} was sent beside ${beside.join()}`);
        sending.add(command.id);
        const answer = await service.send(name_, command, circumstances);
        sending.delete(command.id);
        return answer;
      },
      stop(name_, runId) {
        stopped.add(runId);
        return service.stop(name_, runId);
      },
    };
    const telemetry: Telemetry = {
      commandCompleted: ({ commandId }) => settled.add(commandId),
      misfit: (type) => breaches.push(`${name}: ${type} did not fit`),
    };
    stream = createThreadStream({
      service: watched,
      clock,
      random: () => 0.5,
      policy: DEFAULT_CONNECTION_POLICY,
      telemetry,
    });
    stream.notify({ kind: "online", isOnline });
    const own: MovableController = createThreadController({
      thread: { agentId: "agent", threadId: "thread" },
      service: watched,
      stream,
      clock,
      telemetry,
      commandPolicy: DEFAULT_COMMAND_POLICY,
      circumstances: () => ({ tools: [], context: [] }),
      persist(sync) {
        if (own === line) owed = sync;
      },
      onCompleted(id, outcome) {
        if (own !== line) return;
        // Of those that were handed over: their promises are awaited elsewhere.
        for (const one of submitted) if (one.command.id === id) conclude(one, outcome);
      },
      onLateAck: (id, ack) => line.acked(id, ack),
      onChange() {},
      onShown(input) {
        if (input.kind !== "frames") return;
        if (input.authority.epoch < epoch) breaches.push(`${name}: an older stream wrote`);
        epoch = input.authority.epoch;
      },
    });
    return own;
  }

  function watch(command: Command): void {
    const { run } = line.view();
    const seen = run?.status === "running" ? thread.runs.get(run.runId) : undefined;
    const one: Submitted = { command, seen, outcome: undefined };
    submitted.push(one);
    void line.submit(command).then((outcome) => conclude(one, outcome));
  }

  function conclude(one: Submitted, outcome: CommandOutcome): void {
    if (one.outcome) return;
    const { command, seen } = one;
    one.outcome = outcome;
    const goesOn = seen && seen.status === "running" && !seen.isStopping;
    if (command.kind === "stop" && outcome.kind === "stopped" && goesOn)
      breaches.push(`${command.id} stopped nothing: ${seen.id} goes on`);
    if (outcome.kind === "confirmed" && !thread.applied.has(command.id))
      breaches.push(`${command.id} is confirmed and was not applied`);
  }

  function replaceLine(replace: () => void, commands: readonly Command[]): void {
    line = createLine();
    replace();
    if (release) release = line.open();
    for (const command of commands) watch(command);
  }

  return {
    line: () => line,
    submitted,
    submit(kind) {
      const id = newId(clock.now());
      const messages = [{ id: `${id}-text`, role: "user" as const, content: id }];
      switch (kind) {
        case "sync":
          return watch({ kind, id, input: { state: { wish: id } } });
        case "fire":
          return watch({ kind, id, input: { messages } });
        case "stop":
          return watch({ kind, id });
        case "run":
          return watch({ kind: "run", id, input: { messages }, busy: { kind: "reject" } });
        case "queue":
          return watch({ kind: "run", id, input: { messages }, busy: { kind: "queue" } });
        case "retry":
          return watch({
            kind: "run",
            id,
            input: { messages },
            busy: { kind: "retry", times: 2, delayMs: 400 },
          });
      }
    },
    reload() {
      const old = line;
      // The page that waited is gone.
      for (const one of submitted) conclude(one, { kind: "unreachable" });
      replaceLine(() => old.close(), owed ? [owed] : []);
    },
    handOver() {
      const old = line;
      const unresolved = new Map(
        submitted.flatMap(({ command, outcome }) => (outcome ? [] : [[command.id, command]])),
      );
      const inOrder = [...unresolved.values()].toSorted((a, b) => a.id.localeCompare(b.id));
      replaceLine(() => {
        line.adopt(old.view(), old.projection().cursor);
        clock.schedule(700, () => old.close());
      }, inOrder);
    },
    yield() {
      const old = line;
      const handed = old.handOver();
      replaceLine(() => {
        line.adopt(old.view(), old.projection().cursor, handedCommands(handed));
        old.close();
      }, []);
    },
    close() {
      release?.();
      release = undefined;
      poller.update({ kind: "open", keys: [] });
    },
    reopen() {
      poller.update({ kind: "open", keys: ["thread"] });
      release ??= line.open();
    },
    setOnline(isNowOnline) {
      isOnline = isNowOnline;
      stream.notify({ kind: "online", isOnline });
      poller.update({ kind: "paused", isPaused: !isOnline });
    },
  };
}
