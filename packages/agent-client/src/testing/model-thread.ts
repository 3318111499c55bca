import type { JsonObject } from "@throughline/ai-core";
import type { Command, CommandAck } from "../commands/command.js";
import type { AgentEvent, AgUiFrame, AgUiMessage } from "../wire/agent-event.js";

interface ModelRun {
  /** The client's name for it. */
  readonly id: string;
  readonly serviceRunId: string;
  readonly command: Exclude<Command, { kind: "stop" }> | undefined;
  isStopping: boolean;
  status: "running" | "success" | "cancelled" | "error";
}

type Told = { -readonly [Key in keyof AgUiMessage]: AgUiMessage[Key] };

/**
 * One thread as the service keeps it, as small as it can be: one open run, ids that are runs only once, stops that may come
 * before their run, and a log that every stream reads.
 */
export function createModelThread() {
  const frames: (AgUiFrame & { readonly id: string })[] = [];
  const runs = new Map<string, ModelRun>();
  const tombstones = new Set<string>();
  const applied = new Map<string, number>();
  const listeners = new Set<() => void>();
  const messages: Told[] = [];
  let state: JsonObject = {};
  let openRun: ModelRun | undefined;
  let lastRun: ModelRun | undefined;
  let speaking: Told | undefined;
  let trimmedTo = 0;
  let made = 0;

  function append(event: AgentEvent): void {
    frames.push({ id: String(frames.length + 1), event });
    for (const listener of [...listeners]) listener();
  }

  function callOf(run: ModelRun): JsonObject {
    const status = run.status === "success" ? "ok" : run.status;
    return {
      runId: run.serviceRunId,
      callId: run.serviceRunId,
      parentId: null,
      kind: "run",
      name: "run",
      attempt: 0,
      status,
      startedAt: 1,
      endedAt: run.status === "running" ? null : 2,
    };
  }

  function tellCall(run: ModelRun): void {
    append({ type: "CUSTOM", name: "throughline.calls", value: { whole: false, calls: [callOf(run)] } });
  }

  function startedOf(run: ModelRun, said?: readonly AgUiMessage[]): AgentEvent {
    return {
      type: "RUN_STARTED",
      threadId: "thread",
      runId: run.id,
      ...(said && { input: { messages: said } }),
      metadata: { throughline: { runId: run.serviceRunId } },
    };
  }

  function finishedOf(run: ModelRun): AgentEvent {
    const metadata = { throughline: { runId: run.serviceRunId } };
    if (run.status === "error")
      return { type: "RUN_ERROR", message: "It failed.", code: "run_failed", metadata };
    const type = run.status === "cancelled" ? "cancelled" : "success";
    return { type: "RUN_FINISHED", threadId: "thread", runId: run.id, outcome: { type }, metadata };
  }

  function begin(id: string, command: ModelRun["command"]): ModelRun {
    made += 1;
    const run: ModelRun = {
      id,
      serviceRunId: `service-${made}`,
      command,
      isStopping: false,
      status: "running",
    };
    runs.set(id, run);
    openRun = run;
    lastRun = run;
    const said = (command?.input.messages ?? []).map(({ id: messageId, role, content }) => ({
      id: messageId,
      role,
      content,
    }));
    messages.push(...said.filter((one) => messages.every(({ id: known }) => known !== one.id)));
    append(startedOf(run, said));
    tellCall(run);
    return run;
  }

  function end(status: ModelRun["status"]): void {
    if (!openRun) return;
    const run = openRun;
    hush();
    run.status = status;
    openRun = undefined;
    tellCall(run);
    append(finishedOf(run));
  }

  function hush(): void {
    if (!speaking) return;
    append({ type: "TEXT_MESSAGE_END", messageId: speaking.id });
    speaking = undefined;
  }

  function acknowledge(run: ModelRun): void {
    if (run.command?.kind !== "sync" || applied.has(run.id)) return;
    applied.set(run.id, (applied.get(run.id) ?? 0) + 1);
    state = { ...state, ...run.command.input.state, lastAppliedClientMutationId: run.id };
    append({ type: "STATE_SNAPSHOT", snapshot: state });
  }

  return {
    frames,
    runs,
    /** How often each mutation was applied. */
    applied,
    state: () => state,
    messages: (): readonly AgUiMessage[] => messages,
    openRun: () => openRun,
    lastRun: () => lastRun,

    /** A request for a run arrives. */
    ask(command: Exclude<Command, { kind: "stop" }>): CommandAck {
      const same = runs.get(command.id);
      if (same) return { kind: "accepted", serviceRunId: same.serviceRunId };
      if (openRun) {
        if (command.kind === "fire") openRun.isStopping = true;
        return { kind: "busy", runId: openRun.serviceRunId, retryAfterMs: undefined };
      }
      const run = begin(command.id, command);
      if (tombstones.has(command.id)) end("cancelled");
      return { kind: "accepted", serviceRunId: run.serviceRunId };
    },

    stop(runId: string | undefined): void {
      const named = [...runs.values()].find((run) => run.id === runId || run.serviceRunId === runId);
      const run = runId === undefined ? openRun : named;
      if (run) run.isStopping = true;
      else if (runId !== undefined) tombstones.add(runId);
    },

    /** A foreign run begins, if the thread is free. */
    startElsewhere(): void {
      if (!openRun) begin(`elsewhere-${made + 1}`, undefined);
    },

    /** The open run comes a step further. */
    goOn(step: number): void {
      if (!openRun) return;
      if (openRun.isStopping && step % 2 === 0) {
        end("cancelled");
        return;
      }
      if (step % 4 === 0) {
        if (!speaking) {
          speaking = { id: `said-${frames.length}`, role: "assistant", content: "" };
          messages.push(speaking);
          append({ type: "TEXT_MESSAGE_START", messageId: speaking.id });
        }
        const delta = `${frames.length} `;
        speaking.content = `${speaking.content}${delta}`;
        append({ type: "TEXT_MESSAGE_CONTENT", messageId: speaking.id, delta });
      } else if (step % 4 === 1) acknowledge(openRun);
      else if (step % 4 === 2) hush();
      else {
        acknowledge(openRun);
        end("success");
      }
    },

    finish(): void {
      if (!openRun) return;
      if (!openRun.isStopping) acknowledge(openRun);
      end(openRun.isStopping ? "cancelled" : "success");
    },

    /** Cursors up to here can no longer be gone on from. */
    trim(): void {
      trimmedTo = frames.length;
    },

    onFrames(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    /** What a stream begins with, and how many frames of the log that covers. */
    prelude(cursor: string | undefined): { readonly frames: readonly AgUiFrame[]; readonly upTo: number } {
      const at = Number(cursor ?? Number.NaN);
      if (at >= trimmedTo && at <= frames.length) return { frames: this.resumed(at), upTo: at };
      const run = openRun ?? lastRun;
      const calls = [...runs.values()].map(callOf);
      const told: AgentEvent[] = [
        run ? startedOf(run) : { type: "RUN_STARTED", threadId: "thread", runId: "throughline:empty" },
        { type: "STATE_SNAPSHOT", snapshot: state },
        { type: "MESSAGES_SNAPSHOT", messages: messages.map((message) => ({ ...message })) },
        { type: "CUSTOM", name: "throughline.calls", value: { whole: true, calls } },
        ...(speaking ? [{ type: "TEXT_MESSAGE_START" as const, messageId: speaking.id }] : []),
        // How the thread stands, not how its last run ended.
        ...(openRun
          ? []
          : [
              {
                type: "RUN_FINISHED" as const,
                threadId: "thread",
                runId: run?.id ?? "throughline:empty",
                ...(run && (run.status === "cancelled" || run.status === "error")
                  ? { metadata: { throughline: { lastRun: { status: run.status } } } }
                  : {}),
              },
            ]),
      ];
      return {
        frames: told.map((event, n) =>
          n === told.length - 1 ? { id: String(frames.length), event } : { event },
        ),
        upTo: frames.length,
      };
    },

    /** Of a client that holds everything up to there: what was open then. */
    resumed(at: number): readonly AgUiFrame[] {
      const before = frames.slice(0, at).map(({ event }) => event);
      const started = before.findLast(({ type }) => type === "RUN_STARTED");
      const last = before.findLast(({ type }) => /^RUN_/.test(type));
      if (started?.type !== "RUN_STARTED" || last !== started) return [];
      const { input: _input, ...bare } = started;
      const start = before.findLast(({ type }) => type === "TEXT_MESSAGE_START");
      const isOver =
        start?.type !== "TEXT_MESSAGE_START" ||
        before.some((event) => event.type === "TEXT_MESSAGE_END" && event.messageId === start.messageId);
      return [{ event: bare }, ...(isOver ? [] : [{ event: start }])];
    },

    poll(): readonly AgUiFrame[] {
      const events: AgentEvent[] = [
        {
          type: "RUN_STARTED",
          threadId: "thread",
          runId: "poll",
          metadata: { throughline: { poll: true, activeRunId: openRun?.serviceRunId ?? null } },
        },
        { type: "STATE_SNAPSHOT", snapshot: state },
        { type: "MESSAGES_SNAPSHOT", messages: messages.map((message) => ({ ...message })) },
        { type: "RUN_FINISHED", threadId: "thread", runId: "poll" },
      ];
      return events.map((event) => ({ event }));
    },
  };
}

export type ModelThread = ReturnType<typeof createModelThread>;
