"use client";

import {
  type CommandOutcome,
  newId,
  type RunInput,
  type SubmittedCommand,
  type ThreadMessage,
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

/** How an unsent message is sent again. */
type ResendMode = "plainly" | "in-turn" | "instead";

/** The commands of this page to the thread, and the state it holds about them. */
interface ThreadSession {
  /** Outcomes of messages that could not be sent, by message id. */
  readonly outcomes: ReadonlyMap<string, CommandOutcome>;
  /** Sends a message without waiting: it shows at once, with its outcome. Returns its id. */
  send(content: string | readonly JsonObject[]): string;
  resend(message: ThreadMessage, how: ResendMode): void;
  discard(messageId: string): void;
  /** Whether this page, not another tab, started the run. Takes the id of the service. */
  isOwnRun(runId: string): boolean;
  isOwnMessage(messageId: string): boolean;
  /** Registers any other command, so that its run counts as started by this page. */
  track(command: SubmittedCommand): Promise<CommandOutcome>;
  /** Registers a run that this page started by other means than a command. */
  claim(runId: string): void;
  /** The model that messages name; `undefined`: the one stored in the thread. */
  readonly model: string | undefined;
  setModel(model: string | undefined): void;
}

const ThreadSessionContext = createContext<ThreadSession | undefined>(undefined);

export function useThreadSession(): ThreadSession {
  const session = useContext(ThreadSessionContext);
  if (!session) throw new Error("useThreadSession() needs a <ThreadSessionProvider> above it.");
  return session;
}

export function ThreadSessionProvider({
  onSend,
  children,
}: {
  /** Called with each command. The first one creates the thread. */
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

  const session = useMemo<ThreadSession>(() => {
    function track(command: SubmittedCommand): Promise<CommandOutcome> {
      newest.current();
      ownRuns.add(command);
      return command;
    }

    async function submit(message: ThreadMessage, how: ResendMode): Promise<void> {
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
      resend({ local: _local, ...message }, how) {
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

  return <ThreadSessionContext value={session}>{children}</ThreadSessionContext>;
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
  /** Takes the id of the service. */
  has(runId: string): boolean;
  add(command: SubmittedCommand): void;
  claim(runId: string): void;
}

/** The runs that this page started. */
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
        // A short run may end before any of it was rendered.
        void command.then((outcome) => {
          if ("serviceRunId" in outcome) claim(outcome.serviceRunId);
        });
      },
    }),
    [runIds, claim],
  );
}
