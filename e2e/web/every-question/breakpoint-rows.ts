import { type AnsweredRow, NOT_A_NUMBER } from "./answered-row.js";

/** Pauses before a node, where the state may be edited. */
export const BREAKPOINT_ROWS: readonly AnsweredRow[] = [
  {
    row: 17,
    agent: "breakpoint",
    hands: "keys",
    words: ["Paused before depart."],
    controls: [["button", "Continue"]],
    steps: [["press", "Continue"]],
    given: null,
    said: "You continued",
  },
  {
    row: 17,
    agent: "letter",
    hands: "mouse",
    words: ["Paused before send."],
    controls: [
      ["button", "Continue"],
      ["button", "Edit state"],
    ],
    wrong: {
      steps: [
        ["press", "Edit state"],
        ["fill", "Copies", "none"],
        ["press", "Save"],
      ],
      words: [NOT_A_NUMBER],
    },
    steps: [
      ["fill", "Copies", "2"],
      ["fill", "To", "bob"],
      ["press", "Save and continue"],
    ],
    given: { text: "Dear all", copies: 2, to: ["bob"] },
    said: "You edited the state",
  },
  {
    row: 17,
    agent: "letter",
    hands: "keys",
    words: ["Paused before send."],
    controls: [["button", "Edit state"]],
    wrong: {
      steps: [
        ["press", "Edit state"],
        ["press", "Edit as JSON"],
        ["fill", "State as JSON", '{"copys": 2}'],
        ["press", "Save"],
      ],
      words: ["copys: there is no such value. Known: text, copies, to."],
    },
    steps: [
      ["fill", "State as JSON", '{"text": "Dear both"}'],
      ["press", "Save"],
      ["hear", "Saved."],
      ["press", "Continue"],
    ],
    given: { text: "Dear both", copies: 1, to: ["ann"] },
    said: "You edited the state",
  },
];
