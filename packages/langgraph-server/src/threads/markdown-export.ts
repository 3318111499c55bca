import type { Message } from "@throughline/ai-core";

export interface ExportedThread {
  readonly title: string;
  readonly agent: string;
  readonly exportedAt: string;
  readonly messages: readonly Message[];
}

const SPEAKERS: Readonly<Record<Message["role"], string>> = {
  user: "You",
  assistant: "Agent",
  system: "System",
  tool: "Tool",
  developer: "Developer",
};

/** A conversation as Markdown: what was said under who said it, tool calls and results as code. */
export function toMarkdown({ title, agent, exportedAt, messages }: ExportedThread): string {
  const head = `# ${oneLine(title)}\n\n${oneLine(agent)}, ${exportedAt}\n`;
  return [head, ...messages.map(section)].join("\n");
}

function section(message: Message): string {
  const parts = [
    message.role === "tool" ? fenced(textOf(message)) : textOf(message),
    ...(message.tool_calls ?? []).map(({ name, args }) => `Called \`${name}\`:\n\n${fenced(args, "json")}`),
  ].filter((part) => part !== "");
  return `## ${SPEAKERS[message.role]}\n\n${parts.join("\n\n")}\n`;
}

/** Media are named, not shown: their addresses are for people who are signed in. */
function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  return content.map((part) => (typeof part.text === "string" ? part.text : `_(${part.type})_`)).join("\n\n");
}

/** A fence longer than any within. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
