import {
  contentText,
  currentMessages,
  type ThreadHandle,
  type ThreadMessage,
} from "@throughline/agent-client";
import { contentFiles } from "../agent-ui/conversation/attachments";

/** Exports a thread as this page has loaded it. */
export function exportThread(handle: ThreadHandle, heading: Heading) {
  const { agentId, threadId } = handle;
  const messages = currentMessages(handle.getSnapshot().view);
  const markdown = () => threadMarkdown(heading, messages);
  return {
    markdown,
    saveMarkdown: () => downloadText(fileNameOf(heading.title, "md"), markdown(), "text/markdown"),
    saveJson() {
      const { title } = heading;
      const document = { agentId, threadName: threadId, title, exportedAt: new Date(), messages };
      const text = `${JSON.stringify(document, undefined, 2)}\n`;
      downloadText(fileNameOf(title, "json"), text, "application/json");
    },
  };
}

interface Heading {
  readonly title: string;
  readonly agentName: string;
}

/** Renders a conversation as Markdown: messages with their authors, tool calls and their results. */
export function threadMarkdown({ title, agentName }: Heading, messages: readonly ThreadMessage[]): string {
  const results = new Map(
    messages.flatMap((one) => (one.toolCallId === undefined ? [] : [[one.toolCallId, one]])),
  );
  const parts = messages.flatMap((message) => {
    if (message.subagentRunId !== undefined) return [];
    if (message.role === "user") return [`## You`, bodyOf(message)];
    if (message.role !== "assistant") return [];
    const tools = (message.toolCalls ?? []).map(({ id, name, args }) =>
      toolPart(name, args, results.get(id)),
    );
    const words = bodyOf(message);
    return words === "" && tools.length === 0 ? [] : [`## ${agentName}`, words, ...tools];
  });
  return `${[`# ${title}`, ...withoutRepeats(parts)].filter(Boolean).join("\n\n")}\n`;
}

function bodyOf({ content }: ThreadMessage): string {
  const files = contentFiles(content).map(({ filename, url }) => `*File: ${filename ?? url ?? "unnamed"}*`);
  return [contentText(content).trim(), ...files].filter(Boolean).join("\n\n");
}

function toolPart(name: string, args: string, result: ThreadMessage | undefined): string {
  const outcome = result && contentText(result.content).trim();
  return [`**Tool \`${name}\`**`, fenced(args, "json"), outcome && fenced(outcome, "")]
    .filter(Boolean)
    .join("\n\n");
}

/** Wraps a text in a code fence that is longer than any in the text itself. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Removes repeated headings, so that an answer in several messages has one. */
function withoutRepeats(parts: readonly string[]): readonly string[] {
  let heading = "";
  return parts.filter((part) => {
    if (!part.startsWith("## ")) return true;
    const isNew = part !== heading;
    heading = part;
    return isNew;
  });
}
/** Saves a text as a download. */
function downloadText(filename: string, text: string, mimeType: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: mimeType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = filename;
  link.click();
  // Some browsers read the URL after the click.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Converts a title to a file name that is valid on every system. */
function fileNameOf(title: string, extension: string): string {
  const name = title
    .normalize("NFC")
    .replace(/[\p{Cc}\\/:*?"<>|]+/gu, " ")
    .trim()
    .slice(0, 80);
  return `${name === "" ? "thread" : name}.${extension}`;
}
