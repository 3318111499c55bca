import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { defineCommand, UsageError } from "../command.js";
import { serverClient } from "../server/api-client.js";
import {
  CONNECTED_AGAIN,
  CONNECTION_LOST,
  checkStopped,
  followThread,
  refusalOf,
  SHARED_OPTION,
  sharedFlag,
} from "../server/followed-thread.js";
import {
  goesOnNotice,
  pausedNotice,
  raceInterrupt,
  shellWord,
  untilInterrupted,
} from "../terminal/signals.js";
import type { TerminalInterrupt } from "../transcript/interrupt.js";
import { answersOf, askQuestions, readAnswers } from "../transcript/prompts.js";
import { threadScreen } from "../transcript/thread-screen.js";
import { isPaused } from "../transcript/transcript.js";

export const watchCommand = defineCommand({
  name: "watch",
  summary: "Shows a thread live and lets you answer what it asks",
  usage: "AGENT THREAD",
  help: [
    "Shows the last messages, then everything that happens: text as it is written, the nodes it comes from, tool calls and",
    "results, questions. A question is answered by an option's number, by a text or by JSON, a tool call by approve or",
    "reject; an empty line takes the recommendation. When the server restarts it goes on where it was.",
    "",
    "Ctrl-C stops watching and nothing else: a run goes on without you. With --stop-on-exit it is stopped first.",
    "",
    "  throughline watch poet rivers",
    "  throughline watch poet rivers --json | jq .type",
  ].join("\n"),
  settings: CLIENT_SETTINGS,
  words: { min: 2, max: 2 },
  options: {
    ...SHARED_OPTION,
    history: { type: "string", placeholder: "N", doc: "how many messages of the past to show (default: 20)" },
    "stop-on-exit": { type: "boolean", doc: "Ctrl-C stops the run that is open" },
    json: { type: "boolean", doc: "one AG-UI event a line, as it came" },
  },
  async run(input) {
    const { terminal, values, positionals, signal } = input;
    const [agent = "", thread = ""] = positionals;
    const history = readCount(values.history);
    const client = serverClient(input);
    const flags = sharedFlag(values.shared) + client.sameFlags;
    const reference = { agent, thread, flags };
    const isJson = values.json === true;
    const interruption = untilInterrupted(signal);
    const answers =
      terminal.isInteractive && !isJson ? readAnswers(terminal, interruption.interrupt) : undefined;
    const screen = threadScreen(terminal, { showsInput: true, history, isJson });
    let asked: readonly TerminalInterrupt[] = [];
    let wasPaused = false;
    let isExpected = !isJson;
    const followed = followThread(client, {
      agent,
      thread,
      isShared: values.shared,
      onFrames(frames) {
        screen.show(frames);
        noticeQuestions();
        noticePause();
        noticeSilence();
      },
      onLost: () => screen.note(CONNECTION_LOST),
      onFoundAgain: () => screen.note(CONNECTED_AGAIN),
    });

    async function answer(questions: readonly TerminalInterrupt[]): Promise<void> {
      if (!answers) {
        const command = `throughline run ${shellWord(agent)} --thread ${shellWord(thread)}${flags}`;
        return terminal.note(`It waits for an answer. Give one with: ${command}`);
      }
      const given = await askQuestions(terminal, answers, questions);
      if (!given || asked !== questions) return;
      const refusal = refusalOf(await followed.handle.answerAll(answersOf(given)));
      if (refusal && !interruption.signal.aborted) screen.note(refusal.message);
    }

    function noticeQuestions(): void {
      const { questions } = screen.transcript;
      if (questions === asked) return;
      const wasAsked = asked.length > 0;
      asked = questions;
      if (wasAsked) answers?.withdraw();
      if (questions.length > 0) {
        answer(questions).catch((error: unknown) =>
          terminal.note(error instanceof Error ? error.message : String(error)),
        );
      }
    }

    function noticePause(): void {
      const isNow = isPaused(screen.transcript);
      if (isNow && !wasPaused) screen.note(pausedNotice(reference));
      wasPaused = isNow;
    }

    /** Prints a notice for an empty thread, because an empty window does not show whether the command is connected. */
    function noticeSilence(): void {
      const { isOpen, ending, printed } = screen.transcript;
      if (!isExpected || isOpen || ending === undefined) return;
      isExpected = false;
      if (printed.size === 0)
        screen.note("Nothing here yet. What happens is shown as it comes; Ctrl-C leaves.");
    }

    try {
      await raceInterrupt(interruption, followed.failed);
      if (screen.transcript.isOpen) {
        if (values["stop-on-exit"]) {
          checkStopped(await followed.handle.stop());
          screen.note("The run is stopped.");
        } else screen.note(goesOnNotice(reference));
      } else if (terminal.isInteractive) terminal.print("\n");
      return 0;
    } finally {
      answers?.close();
      interruption.dispose();
      followed.close();
    }
  },
});

function readCount(text = "20"): number {
  if (!/^\d{1,6}$/.test(text)) throw new UsageError("--history takes a whole number.");
  return Number(text);
}

export const stopCommand = defineCommand({
  name: "stop",
  summary: "Stops the run that is open in a thread",
  usage: "AGENT THREAD",
  help: "Viewers of the thread see that it was stopped.\n\n  throughline stop poet rivers",
  settings: CLIENT_SETTINGS,
  words: { min: 2, max: 2 },
  options: {
    ...SHARED_OPTION,
    json: { type: "boolean", doc: "whether a run was stopped, and which, as JSON" },
  },
  async run(input) {
    const { terminal, values, positionals } = input;
    const [agent = "", thread = ""] = positionals;
    const { handle, ready, close } = followThread(serverClient(input), {
      agent,
      thread,
      isShared: values.shared,
    });
    try {
      await ready;
      const { run } = handle.getSnapshot().view;
      const open = run?.status === "running" ? run : undefined;
      // Sent also where no run is open: one may just begin.
      checkStopped(await handle.stop());
      if (values.json)
        terminal.print(`${JSON.stringify({ stopped: open !== undefined, runId: open?.serviceRunId })}\n`);
      else terminal.print(open ? "Stopped.\n" : "No run is open in this thread.\n");
      return 0;
    } finally {
      close();
    }
  },
});
