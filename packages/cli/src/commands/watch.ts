import { randomUUID } from "node:crypto";
import { systemClock } from "@throughline/ai-core";
import { CLIENT_SETTINGS } from "@throughline/langgraph-server/settings";
import { readAnswers } from "../answers.js";
import { askQuestions } from "../ask-questions.js";
import { agentThread, SHARED_OPTION, sharedFlag } from "../client/agent-thread.js";
import { followStream } from "../client/follow-stream.js";
import { readEvents } from "../client/read-events.js";
import { serverClient } from "../client/server-client.js";
import { defineCommand } from "../command.js";
import { goesOnNotice, untilInterrupted } from "../leaving.js";
import { shellWord } from "../shell-word.js";
import { threadScreen } from "../thread-screen.js";
import { readFrame } from "../transcript/frame.js";
import type { Question } from "../transcript/question.js";
import { UsageError } from "../usage-error.js";

export const watchCommand = defineCommand({
  name: "watch",
  summary: "Shows a thread live, whoever runs it, and lets you answer what it asks",
  usage: "AGENT THREAD",
  help: [
    "Shows the last messages, then everything that happens: text as it is written, the nodes it comes from, tool calls and",
    "results, questions. A question is answered by an option's number, by a text or by JSON; an empty line takes the",
    "recommendation. When the server restarts it goes on where it was.",
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
    const talk = agentThread(client, agent, thread, values.shared);
    const flags = sharedFlag(values.shared) + client.sameFlags;
    const isJson = values.json === true;
    const leaving = untilInterrupted(signal);
    const answers = terminal.isInteractive && !isJson ? readAnswers(terminal, leaving.interrupt) : undefined;
    const screen = threadScreen(terminal, { showsInput: true, history, isJson });
    let asked: readonly Question[] = [];
    let isExpected = !isJson;

    async function answer(questions: readonly Question[]): Promise<void> {
      if (!answers) {
        const command = `throughline run ${shellWord(agent)} --thread ${shellWord(thread)}${flags}`;
        return terminal.note(`It waits for an answer. Give one with: ${command}`);
      }
      const given = await askQuestions(terminal, answers, questions);
      if (!given || asked !== questions) return;
      const response = await talk.run({ runId: randomUUID(), answers: given }, undefined, leaving.signal);
      for await (const { data } of readEvents(response, systemClock)) {
        const frame = readFrame(data);
        if (frame?.type === "RUN_ERROR") screen.note(frame.message);
        // What follows comes by the stream that is watched.
        if (frame?.type !== "RUN_STARTED") break;
      }
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

    /** An empty window does not say whether anybody listens. */
    function noticeSilence(): void {
      const { isOpen, ending, told } = screen.transcript;
      if (!isExpected || isOpen || ending === undefined) return;
      isExpected = false;
      if (told.size === 0) screen.note("Nothing here yet. What happens is shown as it comes; Ctrl-C leaves.");
    }

    try {
      await followStream({
        open: (cursor, stop) => talk.connect(true, cursor, stop),
        onConnected: screen.connected,
        onEvent(event) {
          const shown = screen.show(event);
          noticeQuestions();
          noticeSilence();
          return shown === "again" ? "again" : "more";
        },
        onLost: () => screen.note("The connection is lost; trying again. Ctrl-C gives up."),
        onFoundAgain: () => screen.note("Connected again."),
        signal: leaving.signal,
        clock: systemClock,
        random: Math.random,
      });
    } finally {
      answers?.close();
      leaving.dispose();
    }
    if (screen.transcript.isOpen) {
      if (values["stop-on-exit"]) {
        await talk.stop();
        screen.note("The run is stopped.");
      } else screen.note(goesOnNotice({ agent, thread, flags }));
    } else if (terminal.isInteractive) terminal.print("\n");
    return 0;
  },
});

function readCount(text = "20"): number {
  if (!/^\d{1,6}$/.test(text)) throw new UsageError("--history takes a whole number.");
  return Number(text);
}
