import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from "@langchain/core/messages";
import type { OfflinePart, OfflineScript } from "@throughline/langgraph-models";
import { readAssignment, writeAssignment } from "./assignment.js";
import { type Note, searchResultSchema, uncoveredWords } from "./notes.js";

const SCOUT_FALLBACK_PATH = "/research/scout.md";
export const CRITIC_FALLBACK_PATH = "/research/critic.md";

const PLAN = ["Send the scout and the critic out", "Write the report from what they filed"];

/** Plans, sends scout and critic out side by side, files the report, and answers from it. */
export const researcherScript: OfflineScript = ({ messages, lastUserText: question }) => {
  const folder = `/research/${messages.filter((message) => HumanMessage.isInstance(message)).length}`;
  const scoutPath = `${folder}/scout.md`;
  const criticPath = `${folder}/critic.md`;
  const reportPath = `${folder}/report.md`;
  const turn = sinceQuestion(messages);
  if (!hasCalled(turn, "write_todos")) return [text("I will plan this first."), todos(0)];
  if (!hasCalled(turn, "task")) {
    return [task("scout", question, scoutPath), task("critic", question, criticPath)];
  }
  const [found = "", missing = ""] = resultsOf(turn, "task");
  if (!hasCalled(turn, "write_file")) {
    const report = `# ${question}\n\n## What the notes say\n\n${found}\n\n## What they leave open\n\n${missing}\n\nSources: ${scoutPath}, ${criticPath}\n`;
    return [todos(PLAN.length), call("write_file", { file_path: reportPath, content: report })];
  }
  return [
    text(
      `${found}\n\n${missing}\n\nThe report is in ${reportPath}; it rests on ${scoutPath} and ${criticPath}.`,
    ),
  ];
};

export const scoutScript: OfflineScript = ({ messages, lastUserText }) => {
  const { question, path } = readAssignment(lastUserText, SCOUT_FALLBACK_PATH);
  const turn = sinceQuestion(messages);
  if (!hasCalled(turn, "search_notes")) return [call("search_notes", { query: question })];
  const notes = notesIn(turn);
  const lines = notes.map((note) => `- [${note.id}] ${note.title}: ${note.text}`);
  if (!hasCalled(turn, "write_file")) {
    const content = `# Notes on: ${question}\n\n${lines.join("\n") || "No note fits."}\n`;
    return [call("write_file", { file_path: path, content })];
  }
  if (notes.length === 0) return [text("The notes hold nothing on this question.")];
  return [text(notes.map((note) => `${firstSentence(note)} [${note.id}]`).join(" "))];
};

export const criticScript: OfflineScript = ({ messages, lastUserText }) => {
  const { question } = readAssignment(lastUserText, CRITIC_FALLBACK_PATH);
  const turn = sinceQuestion(messages);
  if (!hasCalled(turn, "search_notes")) return [call("search_notes", { query: question })];
  const uncovered = uncoveredWords(question, notesIn(turn));
  return [
    text(
      uncovered.length > 0
        ? `The notes found say nothing of ${uncovered.map((word) => `"${word}"`).join(", ")}: treat that part as unanswered.`
        : "The notes touch every word of the question, but they are few and written by one hand.",
    ),
  ];
};

function text(content: string): OfflinePart {
  return { kind: "text", text: content };
}

function call(name: string, args: Readonly<Record<string, unknown>>): OfflinePart {
  return { kind: "toolCall", name, args };
}

function task(subagent: string, question: string, path: string): OfflinePart {
  return call("task", { subagent_type: subagent, description: writeAssignment({ question, path }) });
}

function todos(done: number): OfflinePart {
  const statusOf = (index: number) =>
    index < done ? "completed" : index === done ? "in_progress" : "pending";
  return call("write_todos", {
    todos: PLAN.map((content, index) => ({ content, status: statusOf(index) })),
  });
}

function sinceQuestion(messages: readonly BaseMessage[]): readonly BaseMessage[] {
  return messages.slice(messages.findLastIndex((message) => HumanMessage.isInstance(message)) + 1);
}

function callsIn(turn: readonly BaseMessage[]) {
  return turn.flatMap((message) =>
    AIMessage.isInstance(message) || AIMessageChunk.isInstance(message) ? (message.tool_calls ?? []) : [],
  );
}

function hasCalled(turn: readonly BaseMessage[], name: string): boolean {
  return callsIn(turn).some((made) => made.name === name);
}

/** Results in the order of the calls: parallel tools finish in any order. */
function resultsOf(turn: readonly BaseMessage[], name: string): readonly string[] {
  return callsIn(turn)
    .filter((made) => made.name === name)
    .flatMap((made) =>
      turn.filter((message) => ToolMessage.isInstance(message) && message.tool_call_id === made.id),
    )
    .map((message) => message.text);
}

function notesIn(turn: readonly BaseMessage[]): readonly Note[] {
  return resultsOf(turn, "search_notes").flatMap(
    (result) => searchResultSchema.parse(JSON.parse(result)).notes,
  );
}

function firstSentence(note: Note): string {
  return /^[^.]+\./.exec(note.text)?.[0] ?? note.text;
}
