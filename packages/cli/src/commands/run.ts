import { randomUUID } from "node:crypto";
import type { CommandOutcome, RunInput } from "@throughline/agent-client";
import { runConfigSchema } from "@throughline/ai-core";
import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { defineCommand, UsageError } from "../command.js";
import { serverClient } from "../server/api-client.js";
import {
  CONNECTED_AGAIN,
  CONNECTION_LOST,
  checkStopped,
  type FollowedThread,
  followThread,
  refusalOf,
  SHARED_OPTION,
  sharedFlag,
} from "../server/followed-thread.js";
import {
  goesOnNotice,
  type Interruption,
  pausedNotice,
  raceInterrupt,
  untilInterrupted,
} from "../terminal/signals.js";
import type { Terminal } from "../terminal/terminal.js";
import { type Answers, answersOf, askQuestions, readAnswers } from "../transcript/prompts.js";
import { oneLine } from "../transcript/text.js";
import { type ThreadScreen, threadScreen } from "../transcript/thread-screen.js";
import { isPaused, type Transcript } from "../transcript/transcript.js";

export const runCommand = defineCommand({
  name: "run",
  summary: "Runs an agent and shows what it does; without a text it asks, turn after turn",
  usage: "AGENT [text]",
  help: [
    "Starts a run in a thread and shows it to its end. A question of the graph is answered by an option's number, by a text or",
    "by JSON, a tool call by approve or reject; an empty line takes the recommendation. Lines piped to standard input answer",
    "in order. Without a text it asks for one, turn after turn, until Ctrl-D. Standard output has the run, standard error",
    "what is said beside it.",
    "",
    "Ctrl-C leaves: the run goes on without you, and it says how to stop it. With --stop-on-exit it is stopped first.",
    "",
    '  throughline run poet "a line about rivers"',
    "  throughline run chat",
    "  printf '1\\n2\\n' | throughline run travel 'Plan my trip'",
    '  throughline run poet --json "the sea" | jq .type',
  ].join("\n"),
  settings: CLIENT_SETTINGS,
  words: { min: 1, max: Number.POSITIVE_INFINITY },
  options: {
    thread: { type: "string", placeholder: "NAME", doc: "the thread (default: a new one)" },
    ...SHARED_OPTION,
    model: { type: "string", placeholder: "NAME", doc: "the model's alias (default: the server's)" },
    "recursion-limit": {
      type: "string",
      placeholder: "N",
      doc: "the most steps of a run (default: the graph's own, else 25)",
    },
    config: {
      type: "string",
      placeholder: "JSON",
      doc: 'recursion_limit, tags, metadata and configurable, as {"configurable": {"tone": "dry"}}',
    },
    "stop-on-exit": { type: "boolean", doc: "Ctrl-C stops the run that is open" },
    json: { type: "boolean", doc: "one AG-UI event a line, as it came" },
  },
  async run(input) {
    const { terminal, values, positionals } = input;
    const [agent = "", ...words] = positionals;
    const text = words.join(" ").trim();
    const thread = values.thread ?? `cli-${randomUUID().slice(0, 8)}`;
    if (thread === "") throw new UsageError("--thread must not be empty.");
    const config = configOf(values.config, values["recursion-limit"]);
    const client = serverClient(input);
    const interruption = untilInterrupted(input.signal);
    const isJson = values.json === true;
    const answers = readAnswers(terminal, interruption.interrupt);
    const screen = threadScreen(terminal, { showsInput: false, history: text === "" ? 20 : 0, isJson });
    const reference = { agent, thread, flags: sharedFlag(values.shared) + client.sameFlags };
    const message = text === "" ? undefined : userMessage(text);
    // A command with a text shows only the run of that text, not the thread's past.
    if (message) screen.muteUntil(message.id);
    const idle = waitUntilIdle(screen);
    const followed = followThread(client, {
      agent,
      thread,
      isShared: values.shared,
      onFrames(frames) {
        screen.show(frames);
        idle.check();
      },
      onLost: () => screen.note(CONNECTION_LOST),
      onFoundAgain: () => screen.note(CONNECTED_AGAIN),
    });
    const session: Session = {
      terminal,
      interruption,
      answers,
      screen,
      followed,
      settings: {
        ...(values.model !== undefined && { model: values.model }),
        ...(config && { config }),
      },
      isUnderWay: false,
    };
    // A prompt that waits for a line must not delay Ctrl-C.
    interruption.signal.addEventListener("abort", answers.close);
    try {
      if (values.thread === undefined) terminal.note(`thread ${thread}`);
      await raceInterrupt(interruption, followed.ready);
      const ended = message ? await turn(session, message) : await converse(session, idle.reached);
      if (!interruption.signal.aborted) {
        if (isPaused(screen.transcript)) screen.note(pausedNotice(reference));
        else if (ended === 0 && isSilent(screen.transcript)) screen.note(silentNotice(screen.transcript));
        return ended;
      }
      // A run that was requested and not acknowledged yet may have begun.
      if (!session.isUnderWay && !screen.transcript.isOpen) return 0;
      if (values["stop-on-exit"]) {
        checkStopped(await followed.handle.stop());
        screen.note("The run is stopped.");
      } else screen.note(goesOnNotice(reference));
      return 130;
    } finally {
      answers.close();
      interruption.dispose();
      followed.close();
    }
  },
});

interface Session {
  readonly terminal: Terminal;
  readonly interruption: Interruption;
  readonly answers: Answers;
  readonly screen: ThreadScreen;
  readonly followed: FollowedThread;
  readonly settings: Pick<RunInput, "model" | "config">;
  /** A run was requested, and its outcome is not known. */
  isUnderWay: boolean;
}

/** The configuration of every run of a session; the flag of a single value wins over the same value in the JSON. */
export function configOf(json: string | undefined, limit: string | undefined): RunInput["config"] {
  if (json === undefined && limit === undefined) return undefined;
  const parsed = runConfigSchema.safeParse({
    ...(json !== undefined && Object(parseJson(json))),
    ...(limit !== undefined && { recursion_limit: Number(limit) }),
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const flag = limit !== undefined && issue?.path[0] === "recursion_limit" ? "--recursion-limit" : "--config";
  throw new UsageError(`${flag}: ${[...(issue?.path ?? []), issue?.message].join(": ")}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`--config must be JSON, as {"recursion_limit": 100}.`);
  }
}

type UserMessage = NonNullable<RunInput["messages"]>[number];

function userMessage(text: string): UserMessage {
  return { id: randomUUID(), role: "user", content: text };
}

/** Runs turn after turn, beginning with the current state of the thread: its last messages, an open run, an interrupt. */
async function converse(session: Session, idle: Promise<void>): Promise<number> {
  const { terminal, answers, interruption, followed } = session;
  await raceInterrupt(interruption, Promise.race([idle, followed.failed]));
  let code = await answerAll(session, 0);
  while (!interruption.signal.aborted) {
    const line = await answers.next(terminal.paint({ tone: "strong", text: "you> " }));
    if (line === undefined || interruption.signal.aborted) break;
    if (line.trim() !== "") code = await turn(session, userMessage(line.trim()));
  }
  if (terminal.isInteractive) terminal.print("\n");
  return code;
}

/** Sends one message, and the answers to the interrupts that follow. */
async function turn(session: Session, message: UserMessage): Promise<number> {
  const { screen } = session;
  const outcome = await start(session, { messages: [message] });
  screen.unmute();
  if (outcome?.kind === "refused" && outcome.code === "interrupt_pending") screen.showQuestions();
  // A thread that is busy with another run is not waited for.
  else if (outcome?.kind !== "done") return 1;
  return answerAll(session, codeOf(outcome));
}

async function answerAll(session: Session, before: number): Promise<number> {
  const { terminal, answers, screen, interruption } = session;
  let code = before;
  while (screen.transcript.questions.length > 0 && !interruption.signal.aborted) {
    const given = await askQuestions(terminal, answers, screen.transcript.questions);
    if (!given) {
      if (!interruption.signal.aborted)
        terminal.note("The run waits for an answer, and there is no more input.");
      return 1;
    }
    code = codeOf(await start(session, { answers: answersOf(given) }));
  }
  return code;
}

/** Requests a run and shows it to its end, or shows the server's refusal. */
async function start(session: Session, input: RunInput): Promise<CommandOutcome | undefined> {
  const { screen, interruption, followed, settings } = session;
  session.isUnderWay = true;
  const running = followed.handle.run({ ...input, ...settings });
  const outcome = await raceInterrupt(interruption, Promise.race([running, followed.failed]));
  if (!outcome) return undefined;
  session.isUnderWay = false;
  const refusal = refusalOf(outcome);
  if (refusal) {
    screen.unmute();
    screen.refuse(refusal);
  }
  return outcome;
}

function codeOf(outcome: CommandOutcome | undefined): number {
  const isFine = outcome?.kind === "done" && ["success", "interrupted"].includes(outcome.status);
  return isFine ? 0 : 1;
}

/** Whether the graph has no messages, so that its result is in its state alone. */
function isSilent({ view }: Transcript): boolean {
  return view.messages.length === 0 && Object.keys(view.state).length > 0;
}

function silentNotice({ view }: Transcript): string {
  return `The run is done. It has no messages; its state is ${oneLine(JSON.stringify(view.state), 2_000)}`;
}

/** Resolves once no run is open. */
function waitUntilIdle(screen: ThreadScreen): { readonly reached: Promise<void>; check(): void } {
  let reach = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  return {
    reached,
    check() {
      const { ending, isOpen } = screen.transcript;
      if (ending !== undefined && !isOpen) reach();
    },
  };
}
