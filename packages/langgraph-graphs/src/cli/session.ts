import { randomUUID } from "node:crypto";
import { Command, MemorySaver } from "@langchain/langgraph";
import { z } from "zod";
import type { RunnableGraph } from "../graphs/graph-definition.js";
import { envKeyResolver } from "../model/key-resolver.js";
import type { Answers } from "./answers.js";
import type { CliArguments } from "./arguments.js";
import { readLine } from "./graph-input.js";
import {
  describeOption,
  interruptSchema,
  type PendingInterrupt,
  type Question,
  readAnswer,
  toQuestion,
} from "./question.js";
import { chunkAsJson, STREAM_MODES, type StreamChunk } from "./stream-chunk.js";
import type { Style } from "./style.js";
import { type TerminalView, terminalView } from "./terminal-view.js";
import { UsageError } from "./usage-error.js";

export interface Session {
  readonly args: CliArguments;
  readonly answers: Answers;
  readonly write: (text: string) => void;
  readonly style: Style;
  readonly signal: AbortSignal;
}

const interruptedSchema = z.object({ __interrupt__: z.array(interruptSchema) });

/** Runs turn after turn: one when the command line brought the input, else until the input ends. */
export async function runSession(session: Session): Promise<void> {
  const { args, answers, write, style } = session;
  const graph = args.definition.create({ keys: envKeyResolver(), checkpointer: new MemorySaver() });
  const thread = args.thread ?? randomUUID();
  if (answers.interactive && !args.json) write(style.dim(`${args.definition.name}, thread ${thread}\n`));
  if (args.input !== undefined) return runTurn(session, graph, thread, args.input);
  for (let turn = 0; ; turn++) {
    const line = await answers.next(style.bold("you> "));
    if (line === undefined && turn === 0) {
      throw new UsageError("Nothing to run: give a text, --input, or a line on standard input.");
    }
    if (line === undefined) return;
    const input = line.trim() === "" ? undefined : readTyped(session, line);
    if (input !== undefined) await runTurn(session, graph, thread, input);
  }
}

/** A person who mistyped gets to try again; a pipe that is wrong is wrong. */
function readTyped({ args, answers, write }: Session, line: string): unknown {
  try {
    return readLine(args.definition, line);
  } catch (error) {
    if (!answers.interactive || !(error instanceof UsageError)) throw error;
    write(`${error.message}\n`);
    return undefined;
  }
}

/** One run and the runs that answer its interrupts; usage is told once, for all of them. */
async function runTurn(
  session: Session,
  graph: RunnableGraph,
  thread: string,
  first: unknown,
): Promise<void> {
  const { write, style, signal } = session;
  const view = terminalView(write, style);
  try {
    let input = first;
    for (;;) {
      const pending = await runOnce(session, view, graph, thread, input);
      if (pending.length === 0) return;
      const resume: Record<string, unknown> = {};
      for (const interrupt of pending) resume[interrupt.id] = await ask(session, toQuestion(interrupt));
      input = new Command({ resume });
    }
  } finally {
    const usage = view.usage();
    if (usage !== undefined && !signal.aborted) write(style.dim(`${usage}\n`));
  }
}

async function runOnce(
  { args, write, signal }: Session,
  view: TerminalView,
  graph: RunnableGraph,
  thread: string,
  input: unknown,
): Promise<readonly PendingInterrupt[]> {
  // The same interrupt is reported by the subgraph it stands in and by every graph above it.
  const pending = new Map<string, PendingInterrupt>();
  try {
    const stream: AsyncIterable<StreamChunk> = await graph.stream(input, {
      streamMode: [...STREAM_MODES],
      subgraphs: true,
      signal,
      recursionLimit: 100,
      configurable: {
        thread_id: thread,
        ...(args.model === undefined ? {} : { model: args.model }),
        offline: args.paceMs === undefined ? {} : { paceMs: args.paceMs },
      },
    });
    for await (const chunk of stream) {
      if (args.json) write(`${chunkAsJson(chunk)}\n`);
      else view.show(chunk);
      const interrupted = interruptedSchema.safeParse(chunk[2]).data;
      for (const interrupt of interrupted?.__interrupt__ ?? []) pending.set(interrupt.id, interrupt);
    }
  } finally {
    view.endRun();
  }
  return [...pending.values()];
}

async function ask({ args, answers, write, style }: Session, question: Question): Promise<unknown> {
  if (!args.json) write(showQuestion(question, style));
  for (;;) {
    const line = await answers.next(style.bold("answer> "));
    if (line === undefined) {
      throw new UsageError("The graph asks a question and standard input has ended: pipe an answer to it.");
    }
    const answer = readAnswer(question, line);
    if ("value" in answer) return answer.value;
    if (!answers.interactive) throw new UsageError(answer.problem);
    write(`${answer.problem}\n`);
  }
}

function showQuestion({ message, options, recommended }: Question, style: Style): string {
  const list = options.map((option, index) => {
    const mark = index === recommended ? style.cyan(" (recommended)") : "";
    return `  ${index + 1}. ${describeOption(option)}${mark}\n`;
  });
  return `\n${style.bold(message)}\n${list.join("")}`;
}
