/** Everything the lookup tool knows. Small on purpose: a tool that knows little must say so. */
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

export function lookUp(term: string): string {
  const found = GLOSSARY.get(term.trim().toLowerCase());
  return (
    found ?? `The glossary has no entry for "${term.trim()}". It knows: ${[...GLOSSARY.keys()].join(", ")}.`
  );
}
