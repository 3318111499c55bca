import { type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describeAttachments, type OfflinePart, type OfflineScript } from "@throughline/langgraph-models";
import { GLOSSARY } from "./tools.js";

const ARITHMETIC = /(?:\d|\(|-\s*[\d(])[\d\s.()+\-*/^]*[+\-*/^][\d\s.()+\-*/^]*[\d)]/;
const TIME_IN = /\btime\b[^.?!]*?\bin\s+([A-Za-z_]+(?:\/[A-Za-z_]+)*(?:\s[A-Z][A-Za-z_]+)*)/;
const FIRST_THEN = /\bfirst\b.*\bthen\b/is;

const CITY_ZONES: ReadonlyMap<string, string> = new Map([
  ["london", "Europe/London"],
  ["nairobi", "Africa/Nairobi"],
  ["new york", "America/New_York"],
  ["paris", "Europe/Paris"],
  ["sydney", "Australia/Sydney"],
  ["tokyo", "Asia/Tokyo"],
]);

/** Turns a question that a tool can answer into tool calls, and their results into an answer; anything else is conversation. */
export const chatScript: OfflineScript = ({ messages, tools, lastUserText }) => {
  const results = trailingToolResults(messages);
  if (results.length > 0) return [text(answerFrom(results))];
  const calls = callsFor(lastUserText).filter((call) => tools.includes(call.name));
  if (calls.length === 0) return [text(converse(messages, lastUserText))];
  if (!FIRST_THEN.test(lastUserText)) return calls;
  const doing = calls.map((call) => call.name).join(" and the ");
  return [text(`First the plan: I ask the ${doing}, then I tell you what came back.`), ...calls];
};

type ToolCallPart = Extract<OfflinePart, { kind: "toolCall" }>;

function callsFor(question: string): readonly ToolCallPart[] {
  const calls: ToolCallPart[] = [];
  const expression = ARITHMETIC.exec(question)?.[0].trim();
  if (expression) calls.push({ kind: "toolCall", name: "calculator", args: { expression } });
  const city = TIME_IN.exec(question)?.[1];
  if (city) {
    const zone = CITY_ZONES.get(city.toLowerCase()) ?? city;
    calls.push({ kind: "toolCall", name: "clock", args: { zone } });
  }
  const term = termOf(question);
  if (term) calls.push({ kind: "toolCall", name: "lookup", args: { term } });
  return calls;
}

/** An explicit "look up X" may name anything, so that the tool can report an unknown word; else only known words count. */
function termOf(question: string): string | undefined {
  const named = /\b(?:look up|define)\s+(?:the\s+)?["“]?([\p{L}-]+)/iu.exec(question)?.[1];
  if (named) return named;
  const asks = /\b(?:what|who|tell me about|explain)\b/i.test(question);
  return asks ? question.match(/\p{L}+/gu)?.find((word) => GLOSSARY.has(word.toLowerCase())) : undefined;
}

function trailingToolResults(messages: readonly BaseMessage[]): readonly ToolMessage[] {
  const results: ToolMessage[] = [];
  for (const message of messages.toReversed()) {
    if (!ToolMessage.isInstance(message)) break;
    results.unshift(message);
  }
  return results;
}

function answerFrom(results: readonly ToolMessage[]): string {
  return results
    .map((result) =>
      result.status === "error"
        ? `The ${result.name ?? "tool"} could not help: ${firstLine(result.text)}`
        : `The ${result.name ?? "tool"} says: ${result.text}`,
    )
    .join("\n");
}

function converse(messages: readonly BaseMessage[], newest: string): string {
  const userTexts = messages
    .filter((message) => HumanMessage.isInstance(message))
    .map((message) => message.text);
  const earlier = userTexts.slice(0, -1);
  const files = describeAttachments(messages);
  const given = files === "" ? "" : `You gave me ${files}. `;
  const offer = `${given}Ask me for a sum, for the time in a city, or to look a word up.`;
  if (earlier.length === 0) return `You said “${shorten(newest)}”. I am the offline model. ${offer}`;
  const first = earlier[0] ?? "";
  return `You said “${shorten(newest)}”. That is message ${userTexts.length} of our conversation; it began with “${shorten(first)}”. ${offer}`;
}

function text(value: string): OfflinePart {
  return { kind: "text", text: value };
}

function firstLine(value: string): string {
  return (value.split("\n")[0] ?? "").replace(/^Error: /, "");
}

function shorten(value: string): string {
  const line = value.replace(/\s+/g, " ").trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
}
