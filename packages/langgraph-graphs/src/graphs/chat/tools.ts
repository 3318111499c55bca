import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { evaluateExpression, formatNumber } from "./calculator.js";
import { lookUp } from "./glossary.js";

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
