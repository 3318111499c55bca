// What is recorded: each scenario is a conversation with one thread, of which only the named turns are written down.

/**
 * @typedef {object} Turn
 * @property {string} [record] the fixture's name; a turn without one only sets the stage
 * @property {Record<string, unknown>} [input]
 * @property {unknown} [resume] the answer to the open interrupts, or a function of their list
 * @property {Record<string, unknown>} [configurable]
 * @property {number} [cancelAfterTokens] stop the run once this many message chunks have arrived
 * @property {boolean} [unabridged] also kept as it came, for the bench, which must not flatter us with smaller payloads
 */

const say = (text, id = "human-1") => ({ messages: [{ type: "human", id, content: text }] });

/** @type {readonly { graph: string, turns: readonly Turn[] }[]} */
export const SCENARIOS = [
  { graph: "chat", turns: [{ record: "chat-plain", input: say("Good morning! Who are you?") }] },
  {
    graph: "chat",
    turns: [
      { input: say("Hello there.") },
      { record: "chat-two-turns", input: say("And what did I say before?", "human-2") },
    ],
  },
  {
    graph: "chat",
    turns: [
      {
        record: "chat-parallel-tools",
        input: say("What is (2 + 3) * 4.5, and what is the time in Tokyo?"),
        unabridged: true,
      },
    ],
  },
  {
    graph: "chat",
    turns: [{ record: "chat-tool-after-text", input: say("First tell me the plan, then look up Japan.") }],
  },
  {
    graph: "chat",
    turns: [{ record: "chat-tool-error", input: say("What is the time in Atlantis/Nowhere?") }],
  },
  {
    graph: "poet",
    turns: [{ record: "poet", input: say("A poem about the sea, please."), unabridged: true }],
  },
  { graph: "ponderer", turns: [{ record: "ponderer", input: say("Should I learn to sail?") }] },
  {
    graph: "travel",
    turns: [
      { record: "travel-interrupt", input: say("Plan a trip to San Francisco.") },
      { record: "travel-resume-flights", resume: ([open]) => open.value.options[0] },
      { record: "travel-resume-hotels", resume: ([open]) => open.value.options[0] },
    ],
  },
  {
    graph: "several-interrupts",
    turns: [
      { record: "several-interrupts", input: say("Book the hall.") },
      {
        record: "several-interrupts-resume",
        resume: (open) =>
          Object.fromEntries(open.map(({ id, value }) => [id, value.kind === "date" ? "Friday" : "€ 300"])),
      },
    ],
  },
  {
    graph: "nested-subgraphs",
    turns: [{ record: "nested-subgraphs", input: say("What is under the field?") }],
  },
  { graph: "painter", turns: [{ record: "media", input: say("Paint the sea.") }] },
  { graph: "parallel-nodes", turns: [{ record: "parallel-nodes", input: say("What about this glass?") }] },
  {
    graph: "poet",
    turns: [{ record: "cancel", input: say("A poem about patience."), cancelAfterTokens: 12 }],
  },
  {
    graph: "poet",
    turns: [
      {
        record: "model-error",
        input: say("A poem about breaking off."),
        configurable: { offline: { paceMs: 8, failAfterTokens: 6 } },
      },
    ],
  },
  {
    graph: "researcher",
    turns: [{ record: "researcher", input: say("Research how lighthouses changed shipping.") }],
  },
  {
    graph: "sentinel",
    turns: [
      { input: { command: { name: "hire" } } },
      { record: "sentinel-cycle", input: { command: { name: "cycle", args: { durationMs: 240 } } } },
    ],
  },
];
