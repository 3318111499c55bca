/** Three things to say first, by the graph's name. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  chat: ["What is 12 * (3 + 4)?", "What time is it in Tokyo?", "Look up the word tide"],
  poet: ["Write about the last train home", "A poem for a cat that ignores me", "Rain on a tin roof"],
  ponderer: [
    "Should I move to another city?",
    "Is it worth learning to draw at forty?",
    "How do I choose what to read next?",
  ],
  travel: ["Plan my trip", "Plan a trip from Amsterdam to San Francisco", "Start over with a new plan"],
  researcher: [
    "How do agents keep their place after a crash?",
    "What makes a stream resumable?",
    "Why do checkpoints matter?",
  ],
  sentinel: ["What are you watching?", "How many cycles have you done?", "What did you last report?"],
};

const FALLBACK = [
  "What can you do?",
  "Show me an example of your work",
  "What do you need from me to begin?",
];

export function examplesFor(graphName: string): readonly string[] {
  return EXAMPLES[graphName] ?? FALLBACK;
}
