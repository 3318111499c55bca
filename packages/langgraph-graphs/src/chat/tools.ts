import { tool } from "@langchain/core/tools";
import { z } from "zod";

/** Longer than any sum a person types, and short enough that nesting can't exhaust the stack. */
const MAX_LENGTH = 200;

/**
 * Evaluates `+ - * / ^`, parentheses, unary minus and decimals. Powers bind tighter than unary minus and to the right, so
 * `-2^2` is -4 and `2^3^2` is 512. Throws an Error that names what is wrong and where.
 */
export function evaluateExpression(text: string): number {
  if (text.length > MAX_LENGTH) throw new Error(`The expression is longer than ${MAX_LENGTH} characters.`);
  let position = 0;

  const peek = (): string => {
    while (/\s/.test(text.charAt(position))) position++;
    return text.charAt(position);
  };
  const accept = (...operators: readonly string[]): string | undefined => {
    const next = peek();
    if (next === "" || !operators.includes(next)) return undefined;
    position++;
    return next;
  };

  const sum = (): number => {
    let value = product();
    for (let operator = accept("+", "-"); operator; operator = accept("+", "-")) {
      value = operator === "+" ? value + product() : value - product();
    }
    return value;
  };
  const product = (): number => {
    let value = signed();
    for (let operator = accept("*", "/"); operator; operator = accept("*", "/")) {
      const right = signed();
      if (operator === "/" && right === 0) throw new Error("Division by zero.");
      value = operator === "*" ? value * right : value / right;
    }
    return value;
  };
  const signed = (): number => (accept("-") ? -signed() : power());
  const power = (): number => {
    const base = atom();
    return accept("^") ? base ** signed() : base;
  };
  const atom = (): number => {
    if (accept("(")) {
      const value = sum();
      if (!accept(")")) throw unexpected('a ")"');
      return value;
    }
    peek();
    const digits = /^(?:\d+(?:\.\d*)?|\.\d+)/.exec(text.slice(position))?.[0];
    if (digits === undefined) throw unexpected("a number");
    position += digits.length;
    return Number(digits);
  };
  const unexpected = (wanted: string): Error => {
    const found = peek();
    return new Error(
      found === ""
        ? `Expected ${wanted} at the end of the expression.`
        : `Expected ${wanted} at position ${position + 1}, found "${found}".`,
    );
  };

  const value = sum();
  if (peek() !== "") throw unexpected("an operator");
  if (!Number.isFinite(value)) throw new Error("The result is not a finite number.");
  return value;
}

/** Twelve digits: enough for any answer, and 0.1 + 0.2 reads as 0.3. */
export function formatNumber(value: number): string {
  return String(Number(value.toPrecision(12)));
}
/** Everything the lookup tool knows. Small on purpose: a tool that knows little must admit it. */
export const GLOSSARY: ReadonlyMap<string, string> = new Map([
  ["chat", "Chat is a multi-turn assistant with a clock, a calculator and this glossary."],
  ["poet", "Poet writes a short poem on whatever you name."],
  ["ponderer", "Ponderer thinks aloud first and then answers."],
  ["travel", "Travel plans a trip and asks you to choose a flight and a hotel on the way."],
  ["researcher", "Researcher plans, delegates to subagents and writes its findings to files."],
  ["sentinel", "Sentinel runs on a schedule or on command and reports what it saw."],
  [
    "throughline",
    "Throughline is the live line between LangGraph agents and the people who watch and steer them.",
  ],
  ["france", "France: capital Paris, currency euro, time zone Europe/Paris."],
  ["japan", "Japan: capital Tokyo, currency yen, time zone Asia/Tokyo."],
  ["kenya", "Kenya: capital Nairobi, currency shilling, time zone Africa/Nairobi."],
  ["brazil", "Brazil: capital Brasília, currency real, time zone America/Sao_Paulo."],
  ["india", "India: capital New Delhi, currency rupee, time zone Asia/Kolkata."],
]);

function lookUp(term: string): string {
  const found = GLOSSARY.get(term.trim().toLowerCase());
  return (
    found ?? `The glossary has no entry for "${term.trim()}". It knows: ${[...GLOSSARY.keys()].join(", ")}.`
  );
}

/** The chat's three tools. A tool that throws becomes a ToolMessage with status "error", which the model then reads. */
export function chatTools(now: () => Date) {
  const clock = tool(({ zone }) => `${timeIn(zone, now())} in ${zone}`, {
    name: "clock",
    description: "Gives the current date and time in an IANA time zone.",
    schema: z.object({ zone: z.string().describe("An IANA time zone, for example Europe/Paris.") }),
  });
  const calculator = tool(
    ({ expression }) => `${expression} = ${formatNumber(evaluateExpression(expression))}`,
    {
      name: "calculator",
      description: "Evaluates an arithmetic expression with + - * / ^ and parentheses.",
      schema: z.object({ expression: z.string().describe("For example (2 + 3) * 4.5") }),
    },
  );
  const lookup = tool(({ term }) => lookUp(term), {
    name: "lookup",
    description: "Looks a word up in a small glossary of countries and of this project's agents.",
    schema: z.object({ term: z.string().describe("One word, for example Japan or poet.") }),
  });
  return [clock, calculator, lookup];
}

function timeIn(zone: string, now: Date): string {
  try {
    return new Intl.DateTimeFormat("en-GB", { timeZone: zone, dateStyle: "full", timeStyle: "short" }).format(
      now,
    );
  } catch {
    throw new Error(`"${zone}" is not an IANA time zone; one looks like Europe/Paris.`);
  }
}
