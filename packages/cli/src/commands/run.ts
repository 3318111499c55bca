import { randomUUID } from "node:crypto";
import { systemClock } from "@throughline/ai-core";
import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { type Answers, readAnswers } from "../answers.js";
import { askQuestions } from "../ask-questions.js";
import {
  type AgentThread,
  agentThread,
  type RunWish,
  SHARED_OPTION,
  sharedFlag,
} from "../client/agent-thread.js";
import { followStream } from "../client/follow-stream.js";
import { serverClient } from "../client/server-client.js";
import { defineCommand } from "../command.js";
import { goesOnNotice, type Leaving, untilInterrupted } from "../leaving.js";
import type { Terminal } from "../terminal.js";
import { type ThreadScreen, threadScreen } from "../thread-screen.js";
import { UsageError } from "../usage-error.js";

export const runCommand = defineCommand({
  name: "run",
  summary: "Runs an agent and shows what it does; without a text it asks, turn after turn",
  usage: "AGENT [text]",
  help: [
    "Starts a run in a thread and shows it to its end. A question of the graph is answered by an option's number, by a text or",
    "by JSON; an empty line takes the recommendation. Lines piped to standard input answer in order. Without a text it asks",
    "for one, turn after turn, until Ctrl-D. Standard output has the run, standard error what is said beside it.",
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
    "stop-on-exit": { type: "boolean", doc: "Ctrl-C stops the run that is open" },
    json: { type: "boolean", doc: "one AG-UI event a line, as it came" },
  },
  async run(input) {
    const { terminal, values, positionals } = input;
    const [agent = "", ...words] = positionals;
    const text = words.join(" ").trim();
    const thread = values.thread ?? `cli-${randomUUID().slice(0, 8)}`;
    if (thread === "") throw new UsageError("--thread must not be empty.");
    const client = serverClient(input);
    const leaving = untilInterrupted(input.signal);
    const isJson = values.json === true;
    const talk = agentThread(client, agent, thread, values.shared);
    const answers = readAnswers(terminal, leaving.interrupt);
    const screen = threadScreen(terminal, { showsInput: false, history: text === "" ? 20 : 0, isJson });
    const session: Session = { terminal, leaving, talk, answers, screen, model: values.model };
    // A prompt that waits for a line must not keep Ctrl-C waiting.
    leaving.signal.addEventListener("abort", answers.close);
    try {
      if (values.thread === undefined) terminal.note(`thread ${thread}`);
      const ended = text === "" ? await converse(session) : await turn(session, { text });
      if (!leaving.signal.aborted) return ended;
      const { isOpen, ending } = screen.transcript;
      // What was asked for and not heard of yet may have begun.
      if (!isOpen && (text === "" || ending !== undefined)) return 0;
      if (values["stop-on-exit"]) {
        await talk.stop();
        screen.note("The run is stopped.");
      } else
        screen.note(goesOnNotice({ agent, thread, flags: sharedFlag(values.shared) + client.sameFlags }));
      return 130;
    } finally {
      answers.close();
      leaving.dispose();
    }
  },
});

interface Session {
  readonly terminal: Terminal;
  readonly leaving: Leaving;
  readonly talk: AgentThread;
  readonly answers: Answers;
  readonly screen: ThreadScreen;
  readonly model: string | undefined;
}

/** Turn after turn, beginning with what the thread already holds: its last messages, a run that is open, a question. */
async function converse(session: Session): Promise<number> {
  const { terminal, answers, leaving } = session;
  await showUntilEnd(session, (cursor, signal) => session.talk.connect(false, cursor, signal));
  let code = await answerAll(session, 0);
  while (!leaving.signal.aborted) {
    const line = await answers.next(terminal.paint({ tone: "strong", text: "you> " }));
    if (line === undefined || leaving.signal.aborted) break;
    if (line.trim() !== "") code = await turn(session, { text: line.trim() });
  }
  if (terminal.isInteractive) terminal.print("\n");
  return code;
}

/** One message, and the answers to what the graph asks back. */
async function turn(session: Session, { text }: { readonly text: string }): Promise<number> {
  const { screen } = session;
  await start(session, { runId: randomUUID(), message: { id: randomUUID(), text }, model: session.model });
  if (screen.transcript.ending?.code === "interrupt_pending") {
    await showUntilEnd(session, (cursor, signal) => session.talk.connect(false, cursor, signal));
  }
  return answerAll(session, exitCodeOf(screen));
}

async function answerAll(session: Session, before: number): Promise<number> {
  const { terminal, answers, screen, leaving } = session;
  let code = before;
  while (screen.transcript.questions.length > 0 && !leaving.signal.aborted) {
    const given = await askQuestions(terminal, answers, screen.transcript.questions);
    if (!given) {
      if (!leaving.signal.aborted) terminal.note("The run waits for an answer, and there is no more input.");
      return 1;
    }
    await start(session, { runId: randomUUID(), answers: given, model: session.model });
    code = exitCodeOf(screen);
  }
  return code;
}

/** Asked for again under the same id, it is the same run: a connection that breaks costs nothing (R25). */
function start(session: Session, wish: RunWish): Promise<void> {
  return showUntilEnd(session, (cursor, signal) => session.talk.run(wish, cursor, signal));
}

async function showUntilEnd(
  { screen, leaving }: Session,
  open: (cursor: string | undefined, signal: AbortSignal) => Promise<Response>,
): Promise<void> {
  await followStream({
    open,
    onConnected: screen.connected,
    onEvent(event) {
      if (screen.show(event) === "again") return "again";
      const { ending, isOpen } = screen.transcript;
      return ending !== undefined && !isOpen ? "done" : "more";
    },
    onLost: () => screen.note("The connection is lost; trying again. Ctrl-C gives up."),
    onFoundAgain: () => screen.note("Connected again."),
    signal: leaving.signal,
    clock: systemClock,
    random: Math.random,
  });
}

function exitCodeOf({ transcript }: ThreadScreen): number {
  return transcript.ending?.status === "success" || transcript.ending?.status === "interrupted" ? 0 : 1;
}
