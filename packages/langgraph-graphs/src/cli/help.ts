import type { GraphDefinition } from "../graphs/graph-definition.js";

export function helpText(catalog: readonly GraphDefinition[]): string {
  const graphs = catalog
    .map(({ graphName, description }) => `  ${graphName.padEnd(12)}${description}`)
    .join("\n");
  return `Runs a graph in this process and shows it live.

  npm run graph -- NAME [text]

Graphs
${graphs}

Options
  --input JSON   the graph's input itself, instead of a text
  --model NAME   model alias for LiteLLM (default: default)
  --pace MS      milliseconds between tokens of the offline model (default: 25)
  --thread ID    thread id (default: a new one)
  --json         one JSON object per line: {"ns":[…],"mode":"…","data":…}
  --help         this text

Without a text it asks, turn after turn. At a question of the graph, answer with an option's number, with JSON or with
a text; an empty line takes the recommendation. Lines piped to standard input answer in order. A line that is a JSON
object is the graph's input itself.

Without LITELLM_BASE_URL the offline model answers: no network, no key, always the same. NO_COLOR turns colours off.

Examples
  npm run graph -- chat "What is 2 + 3 * 4, and what is the time in Tokyo?"
  npm run graph -- travel "Plan my trip"
  printf '1\\n2\\n' | npm run graph -- travel "Plan my trip"
  npm run graph -- sentinel --input '{"command":{"name":"hire"}}'
  npm run graph -- poet --json --pace 0 "the sea"

Exit codes: 0 done, 1 the graph failed, 2 called the wrong way, 130 stopped with Ctrl-C.
`;
}
