import { type AnsweredRow, NEEDED } from "./answered-row.js";

const ACCEPT_DAY = { action: "accept", content: { day: "Monday" } };

/** Questions of an MCP server, which are answered in fields or on another page. */
export const ELICITATION_ROWS: readonly AnsweredRow[] = [
  {
    row: 4,
    agent: "elicitation-several",
    hands: "mouse",
    words: ["book asks for 2 things.", "This happens on example.com", "https://example.com/login?flow=7"],
    controls: [
      ["group", "When do you travel?"],
      ["group", "Sign in."],
      ["textbox", "Day"],
      ["link", "Open example.com"],
    ],
    wrong: {
      steps: [["press", "Send answers"]],
      words: [NEEDED, "Open the page and say when you are done, or decline."],
    },
    steps: [
      ["fill", "Day", "Monday"],
      ["press", "I have done it"],
      ["press", "Send answers"],
    ],
    given: { responses: { when: ACCEPT_DAY, login: { action: "accept" } } },
    said: "You accepted day: Monday, accepted",
  },
  {
    row: 5,
    agent: "elicitation-earlier",
    hands: "keys",
    words: ["When?", "Asked by rail"],
    controls: [
      ["textbox", "Day"],
      ["button", "Decline"],
      ["button", "Cancel"],
    ],
    wrong: { steps: [["press", "Answer"]], words: [NEEDED] },
    steps: [
      ["fill", "Day", "Monday"],
      ["press", "Answer"],
    ],
    given: ACCEPT_DAY,
    said: "You accepted day: Monday",
  },
  {
    row: 5,
    agent: "elicitation-earlier-url",
    hands: "mouse",
    words: ["Sign in.", "This happens on example.com"],
    controls: [
      ["link", "Open example.com"],
      ["button", "I have done it"],
    ],
    steps: [["press", "Decline"]],
    given: { action: "decline" },
    said: "You declined",
  },
  {
    row: 6,
    agent: "elicitation-server",
    hands: "mouse",
    words: ["When?"],
    controls: [
      ["textbox", "Day"],
      ["button", "Answer"],
    ],
    wrong: { steps: [["press", "Answer"]], words: [NEEDED] },
    steps: [["press", "Cancel"]],
    given: { action: "cancel" },
    said: "You cancelled",
  },
  {
    row: 6,
    agent: "elicitation-server-url",
    hands: "keys",
    words: ["Sign in.", "This happens on example.com"],
    controls: [["link", "Open example.com"]],
    steps: [["press", "I have done it"]],
    given: { action: "accept" },
    said: "You accepted",
  },
];
