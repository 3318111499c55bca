import { type AgentCommand, type GraphDescriptor, ThroughlineError } from "@throughline/ai-core";
import type { BusyStrategy } from "@throughline/thread-log";

/** The server's own commands, available for every agent. The first two start no run, so they are never busy. */
const SERVER_COMMANDS = ["poll", "stop", "ask_again"] as const;

const FIRE = "fire";

/** The kind of a request. */
export type CommandPlan =
  | { readonly kind: "poll" }
  /** Stops the named run, else everything that was requested of the thread. */
  | { readonly kind: "stop"; readonly runId: string | undefined }
  /** A run that repeats an interrupt whose response made the node fail. */
  | { readonly kind: "ask_again" }
  | { readonly kind: "run"; readonly command: AgentCommand | undefined; readonly strategy: BusyStrategy };

export interface Asked {
  readonly command?: AgentCommand | undefined;
  readonly strategy?: BusyStrategy | undefined;
}

/**
 * Which way a request goes. `fire` preempts, and of all commands it alone may. Every other is refused as busy unless it asks
 * to wait: clients hold one pending `sync` and send it again, so that the newest wins and nothing piles up here.
 */
export function laneOf(agent: Commanded, { command, strategy }: Asked): CommandPlan {
  if (!command) return { kind: "run", command, strategy: strategy ?? "reject" };
  switch (command.name) {
    case "poll":
      return { kind: "poll" };
    case "stop":
      return { kind: "stop", runId: runIdOf(command) };
    case "ask_again":
      return { kind: "ask_again" };
  }
  requireKnownCommand(agent, command);
  if (strategy === "preempt" && command.name !== FIRE) {
    throw refused("strategy", `only the command ${FIRE} preempts; ${command.name} may reject or enqueue`);
  }
  return { kind: "run", command, strategy: strategy ?? (command.name === FIRE ? "preempt" : "reject") };
}

type Commanded = Pick<GraphDescriptor, "graphId" | "commands">;

export function requireKnownCommand({ graphId, commands }: Commanded, { name }: AgentCommand): void {
  if (commands.includes(name)) return;
  const known = [...commands, ...SERVER_COMMANDS];
  throw refused("command.name", `${graphId} has no command "${name}". It has: ${known.join(", ")}.`, known);
}

/** Sets state on purpose: what it brings counts even where it is what the thread has right now. */
export function isMutation(command: AgentCommand | undefined): boolean {
  return command?.name === "sync" || command?.clientMutationId !== undefined;
}

function runIdOf({ args }: AgentCommand): string | undefined {
  const runId = args?.runId;
  if (runId === undefined || (typeof runId === "string" && runId !== "" && runId.length <= 256)) return runId;
  throw refused("command.args.runId", "expected the id of a run");
}

function refused(field: string, message: string, known?: readonly string[]): ThroughlineError {
  const path = `forwardedProps.throughline.${field}`;
  return new ThroughlineError("invalid_input", `${path}: ${message}`, {
    details: { field: path, ...(known && { known: [...known] }) },
  });
}
