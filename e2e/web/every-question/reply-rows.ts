import { type AnsweredRow, NEEDED } from "./answered-row.js";

const NOT_JSON = "This is not JSON. A text needs quotation marks.";

/** Questions that are answered with one button or one text. */
export const REPLY_ROWS: readonly AnsweredRow[] = [
  {
    row: 12,
    agent: "options",
    hands: "mouse",
    words: ["Where to?", "Recommended"],
    controls: [
      ["button", "Oslo"],
      ["button", "Rome Recommended"],
    ],
    steps: [["press", "Oslo"]],
    given: "Oslo",
    said: "You chose Oslo",
  },
  {
    row: 13,
    agent: "yes-no-details",
    hands: "mouse",
    words: ["Publish it?", "the blog"],
    controls: [
      ["button", "Yes"],
      ["button", "No"],
      ["textbox", "Your answer"],
    ],
    wrong: { steps: [["press", "Answer"]], words: [NEEDED] },
    steps: [["press", "Yes"]],
    given: true,
    said: "You said yes",
  },
  {
    row: 13,
    agent: "yes-no-text",
    hands: "keys",
    words: ["Shall I go on?"],
    controls: [
      ["button", "Yes"],
      ["textbox", "Your answer"],
    ],
    wrong: { steps: [["press", "Answer"]], words: [NEEDED] },
    steps: [
      ["fill", "Your answer", "only two"],
      ["press", "Answer"],
    ],
    given: "only two",
    said: "You answered “only two”",
  },
  {
    row: 14,
    agent: "draft",
    hands: "mouse",
    words: ["Improve this line", "Helo world"],
    controls: [
      ["textbox", "Your answer"],
      ["button", "Answer"],
    ],
    wrong: {
      steps: [
        ["fill", "Your answer", ""],
        ["press", "Answer"],
      ],
      words: [NEEDED],
    },
    steps: [
      ["fill", "Your answer", "Hello world"],
      ["press", "Answer"],
    ],
    given: "Hello world",
    said: "You answered “Hello world”",
  },
  {
    row: 16,
    agent: "copilotkit",
    hands: "mouse",
    words: ["What now?"],
    controls: [["textbox", "Your answer"]],
    wrong: { steps: [["press", "Answer"]], words: [NEEDED] },
    steps: [
      ["fill", "Your answer", "Go home"],
      ["press", "Answer"],
    ],
    given: "Go home",
    said: "You answered “Go home”",
  },
  {
    row: 18,
    agent: "any-list",
    hands: "mouse",
    words: ['"is": "this"'],
    controls: [
      ["textbox", "Your answer"],
      ["button", "Answer as JSON"],
    ],
    wrong: {
      steps: [
        ["press", "Answer as JSON"],
        ["fill", "Your answer as JSON", "[1,"],
        ["press", "Answer"],
      ],
      words: [NOT_JSON],
    },
    steps: [
      ["fill", "Your answer as JSON", "[1]"],
      ["press", "Answer"],
    ],
    given: [1],
    said: "You answered 1",
  },
  {
    row: 18,
    agent: "any-number",
    hands: "keys",
    words: ["Asked", "42"],
    controls: [
      ["textbox", "Your answer"],
      ["button", "Answer as JSON"],
    ],
    wrong: { steps: [["press", "Answer"]], words: [NEEDED] },
    steps: [
      ["fill", "Your answer", "43"],
      ["press", "Answer"],
    ],
    given: "43",
    said: "You answered “43”",
  },
  {
    row: 18,
    agent: "any-text",
    hands: "keys",
    words: ["Tell me more."],
    controls: [["textbox", "Your answer"]],
    wrong: { steps: [["press", "Answer"]], words: [NEEDED] },
    steps: [
      ["press", "Answer as JSON"],
      ["fill", "Your answer as JSON", "43"],
      ["press", "Answer"],
    ],
    given: 43,
    said: "You answered 43",
  },
];
