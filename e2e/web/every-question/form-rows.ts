import { type AnsweredRow, NEEDED, NOT_A_NUMBER } from "./answered-row.js";

/** Questions with fields of their own. */
export const FORM_ROWS: readonly AnsweredRow[] = [
  {
    row: 7,
    agent: "ask-user",
    hands: "keys",
    words: ["The agent has 4 questions.", "Which class?", "Which days?"],
    controls: [
      ["textbox", "Your name?"],
      ["radio", "First"],
      ["checkbox", "Mon"],
      ["checkbox", "Other"],
      ["button", "Cancel"],
    ],
    wrong: { steps: [["press", "Answer"]], words: [NEEDED] },
    steps: [
      ["fill", "Your name?", "Ada"],
      ["choose", "Second"],
      ["choose", "Tue"],
      ["press", "Answer"],
    ],
    given: { status: "answered", answers: ["Ada", "Second", '["Tue"]', ""] },
    said: 'You answered “Ada”, “Second”, “["Tue"]”',
  },
  {
    row: 8,
    agent: "ask-by-id",
    hands: "mouse",
    words: ["Which range?"],
    controls: [
      ["radio", "Last 7 days"],
      ["radio", "Custom"],
    ],
    wrong: {
      steps: [
        ["choose", "Custom"],
        ["press", "Answer"],
      ],
      words: ["Write your answer."],
    },
    steps: [
      ["fill", "Custom: in your words", "May"],
      ["press", "Answer"],
    ],
    given: { answers: { range: "May" } },
    said: "You answered range: May",
  },
  {
    row: 9,
    agent: "schema-beside",
    hands: "keys",
    words: ["Who comes along?", "From 1 to 9."],
    controls: [
      ["textbox", "People"],
      ["combobox", "Meal"],
      ["textbox", "Names"],
      ["checkbox", "Quiet"],
    ],
    wrong: {
      steps: [
        ["fill", "People", "12"],
        ["press", "Answer"],
      ],
      words: ["No more than 9."],
    },
    steps: [
      ["fill", "People", "2"],
      ["select", "Meal", "fish"],
      ["fill", "Names", "Ada"],
      ["choose", "Quiet"],
      ["press", "Answer"],
    ],
    given: { people: 2, meal: "fish", names: ["Ada"], quiet: false },
    said: "You answered people: 2, meal: fish, quiet: false",
  },
  {
    row: 10,
    agent: "ag-ui-input",
    hands: "keys",
    words: ["When?"],
    controls: [["textbox", "Day"]],
    wrong: { steps: [["press", "Answer"]], words: [NEEDED] },
    steps: [
      ["fill", "Day", "Monday"],
      ["press", "Answer"],
    ],
    given: { day: "Monday" },
    said: "You answered day: Monday",
  },
  {
    row: 10,
    agent: "ag-ui-confirmation",
    hands: "mouse",
    words: ["Publish it?"],
    controls: [
      ["button", "Yes"],
      ["button", "No"],
    ],
    steps: [["press", "No"]],
    given: { approved: false },
    said: "You said no",
  },
  {
    row: 11,
    agent: "fields-form",
    hands: "keys",
    words: ["Refund request", "Order 7 came too late."],
    controls: [
      ["textbox", "Amount"],
      ["combobox", "Why"],
      ["checkbox", "Tell the customer"],
      ["textbox", "Note"],
      ["button", "Reject"],
    ],
    wrong: {
      steps: [
        ["fill", "Amount", "much"],
        ["press", "Approve"],
      ],
      words: [NOT_A_NUMBER],
    },
    steps: [
      ["fill", "Amount", "4"],
      ["select", "Why", "It is broken"],
      ["choose", "Tell the customer"],
      ["press", "Approve"],
    ],
    given: { approved: true, values: { amount: 4, why: "broken", isTold: true } },
    said: "You approved amount: 4, why: broken, isTold: true",
  },
  {
    row: 15,
    agent: "tool-action",
    hands: "keys",
    words: ["Send it?", 'Approving sends {"action":"approve"}'],
    controls: [
      ["textbox", "To"],
      ["textbox", "Copies"],
      ["button", "Approve"],
      ["button", "Reject"],
    ],
    wrong: {
      steps: [
        ["fill", "Copies", "some"],
        ["press", "Approve"],
      ],
      words: [NOT_A_NUMBER],
    },
    steps: [
      ["fill", "Copies", "2"],
      ["press", "Approve"],
    ],
    given: { action: "approve", copies: 2 },
    said: "You approved send_email",
  },
];
