"use client";

import {
  type CommandOutcome,
  type MessageView,
  newId,
  type RunInput,
  type SubmittedCommand,
} from "@throughline/agent-client";
import { useCommands, useThreadHandle } from "@throughline/agent-react";
import type { JsonObject } from "@throughline/ai-core";
import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";

/** How a message that did not get through is to be sent once more. */
type Again = "plainly" | "in-turn" | "instead";

/** What this page does to the thread, and what it remembers of it. */
interface Steering {
  /** How sending came out, by message, where it did not work. */
  readonly outcomes: ReadonlyMap<string, CommandOutcome>;
  /** Never waited for: the message shows at once, and what becomes of it shows there. Gives its id. */
  send(content: string | readonly JsonObject[]): string;
  sendAgain(message: MessageView, how: Again): void;
  discard(messageId: string): void;
  /** Runs that this page asked for, and not another tab; by the service's own id. */
  isOwnRun(runId: string): boolean;
  isOwnMessage(messageId: string): boolean;
  /** Any other command: what it starts is this page's own. */
  track(command: SubmittedCommand): Promise<CommandOutcome>;
  /** A run that this page asked for by another way than a command. */
  claim(runId: string): void;
  /** What messages ask for by name; `undefined`: what the thread remembers. */
  readonly model: string | undefined;
  setModel(model: string | undefined): void;
}

const SteeringContext = createContext<Steering | undefined>(undefined);

export function useSteering(): Steering {
  const steering = useContext(SteeringContext);
  if (!steering) throw new Error("useSteering() needs a <SteeringProvider> above it.");
  return steering;
}

export function SteeringProvider({
  onSend,
  children,
}: {
  /** With the first of these the thread begins to exist. */
  readonly onSend: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const handle = useThreadHandle();
  const commands = useCommands();
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, CommandOutcome>>(new Map());
  const [model, setModel] = useState<string>();
  const ownMessages = useRef(new Set<string>());
  const ownRuns = useOwnRuns();
  const newest = useRef(onSend);
  newest.current = onSend;

  const steering = useMemo<Steering>(() => {
    function track(command: SubmittedCommand): Promise<CommandOutcome> {
      newest.current();
      ownRuns.add(command);
      return command;
    }

    async function submit(message: MessageView, how: Again): Promise<void> {
      ownMessages.current.add(message.id);
      setOutcomes((before) => without(before, message.id));
      const input: RunInput = { messages: [message], ...(model !== undefined && { model }) };
      const outcome = await track(
        how === "instead"
          ? commands.fire(input)
          : commands.run(input, how === "in-turn" ? { kind: "queue" } : { kind: "reject" }),
      );
      if (outcome.kind === "done") return;
      setOutcomes((before) => new Map(before).set(message.id, outcome));
    }

    return {
      outcomes,
      model,
      setModel,
      send(content) {
        const id = newId(Date.now());
        void submit({ id, role: "user", content }, "plainly");
        return id;
      },
      sendAgain({ local: _local, ...message }, how) {
        void submit(message, how);
      },
      discard(messageId) {
        handle.discard(messageId);
        setOutcomes((before) => without(before, messageId));
      },
      isOwnRun: ownRuns.has,
      claim: ownRuns.claim,
      isOwnMessage: (messageId) => ownMessages.current.has(messageId),
      track,
    };
  }, [handle, commands, outcomes, ownRuns, model]);

  return <SteeringContext value={steering}>{children}</SteeringContext>;
}

function without(
  outcomes: ReadonlyMap<string, CommandOutcome>,
  id: string,
): ReadonlyMap<string, CommandOutcome> {
  if (!outcomes.has(id)) return outcomes;
  const next = new Map(outcomes);
  next.delete(id);
  return next;
}

interface OwnRuns {
  /** By the service's own id. */
  has(runId: string): boolean;
  add(command: SubmittedCommand): void;
  claim(runId: string): void;
}

/** Runs that commands of this page started. */
export function useOwnRuns(): OwnRuns {
  const handle = useThreadHandle();
  const commandIds = useRef(new Set<string>());
  const [runIds, setRunIds] = useState<ReadonlySet<string>>(new Set());

  const claim = useCallback((runId: string | undefined) => {
    if (runId === undefined) return;
    setRunIds((before) => (before.has(runId) ? before : new Set([...before, runId])));
  }, []);

  useEffect(
    () =>
      handle.subscribe(() => {
        const { run } = handle.getSnapshot().view;
        if (run && commandIds.current.has(run.runId)) claim(run.serviceRunId);
      }),
    [handle, claim],
  );

  return useMemo(
    () => ({
      has: (runId) => runIds.has(runId),
      claim,
      add(command) {
        commandIds.current.add(command.runId);
        // A short run may be over before anything of it was drawn.
        void command.then((outcome) => {
          if ("serviceRunId" in outcome) claim(outcome.serviceRunId);
        });
      },
    }),
    [runIds, claim],
  );
}
