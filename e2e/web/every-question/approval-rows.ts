import { type AnsweredRow, NOT_A_NUMBER } from "./answered-row.js";
import type { Step } from "./hands.js";

const SEND: Step = ["key", "pay", "ControlOrMeta+Enter"];

/** Questions about calls of tools: rows with decisions. */
export const APPROVAL_ROWS: readonly AnsweredRow[] = [
  {
    row: 1,
    agent: "approver",
    say: "Refund order 77 and send an email",
    hands: "mouse",
    words: ["An email to a customer."],
    controls: [
      ["group", "refund_order"],
      ["group", "send_email"],
      ["button", "Edit"],
      ["button", "Approve all"],
    ],
    wrong: {
      steps: [
        ["press", "Edit"],
        ["fill", "Amount", "many"],
        ["fill", "Order", "77"],
      ],
      words: [NOT_A_NUMBER],
    },
    steps: [
      ["fill", "Amount", "12"],
      ["key", "send_email", "a"],
      ["press", "Send decisions"],
    ],
    given: {
      decisions: [
        { type: "edit", editedAction: { name: "refund_order", args: { order: "77", amount: 12 } } },
        { type: "approve" },
      ],
    },
    said: "You edited refund_order, approved send_email",
  },
  {
    row: 1,
    agent: "batch-python",
    hands: "keys",
    words: ["Approve 2 calls: pay, tell?", "Pays.", "Tells."],
    controls: [
      ["group", "pay"],
      ["group", "tell"],
      ["button", "Respond"],
      ["button", "Approve all"],
    ],
    wrong: {
      steps: [
        ["key", "tell", "r"],
        ["key", "pay", "e"],
        ["fill", "Amount", "many"],
        ["fill", "To", "bob"],
        SEND,
      ],
      words: [NOT_A_NUMBER],
    },
    steps: [["fill", "Amount", "4"], ["fill", "Reason", "Too early"], SEND],
    given: {
      decisions: [
        { type: "edit", edited_action: { name: "pay", args: { to: "bob", amount: 4 } } },
        { type: "reject", message: "Too early" },
      ],
    },
    said: "You edited pay, rejected tell",
  },
  {
    row: 2,
    agent: "tool-approval",
    hands: "mouse",
    words: ["Approve pay?"],
    controls: [
      ["group", "pay"],
      ["button", "Approve"],
      ["button", "Edit"],
    ],
    wrong: {
      steps: [
        ["press", "Edit"],
        ["fill", "Amount", "500"],
        ["fill", "To", "ada"],
      ],
      words: ["No more than 100."],
    },
    steps: [
      ["fill", "Amount", "40"],
      ["press", "Send decision"],
    ],
    given: { type: "edit", edited_action: { name: "pay", args: { to: "ada", amount: 40 } } },
    said: "You edited pay",
  },
  {
    row: 3,
    agent: "inbox-request",
    hands: "keys",
    words: ["Approve pay?", "Pays ada."],
    controls: [
      ["button", "Approve"],
      ["button", "Edit"],
      ["button", "Ignore"],
      ["button", "Respond"],
    ],
    wrong: {
      steps: [["press", "Respond"], ["fill", "What the agent is told", ""], SEND],
      words: ["Write what the agent is told."],
    },
    steps: [["fill", "What the agent is told", "Later."], SEND],
    given: [{ type: "response", args: "Later." }],
    said: "You answered for pay",
  },
  {
    row: 3,
    agent: "inbox-list",
    hands: "mouse",
    words: ["Approve pay?"],
    controls: [
      ["button", "Approve"],
      ["button", "Edit"],
    ],
    wrong: {
      steps: [
        ["press", "Edit"],
        ["fill", "Amount", "x"],
        ["fill", "To", "ada"],
      ],
      words: [NOT_A_NUMBER],
    },
    steps: [
      ["fill", "Amount", "4"],
      ["press", "Send decision"],
    ],
    given: [{ type: "edit", args: { action: "pay", args: { to: "ada", amount: 4 } } }],
    said: "You edited pay",
  },
  {
    row: 3,
    agent: "inbox-text",
    hands: "keys",
    words: ["Approve pay?"],
    controls: [["button", "Ignore"]],
    steps: [["key", "pay", "r"], SEND],
    given: [{ type: "ignore", args: null }],
    said: "You ignored pay",
  },
  {
    row: 10,
    agent: "ag-ui-tool-call",
    hands: "mouse",
    words: ["Pay ada?"],
    controls: [
      ["group", "pay"],
      ["button", "Approve"],
      ["button", "Edit"],
      ["button", "Reject"],
    ],
    wrong: {
      steps: [
        ["press", "Edit"],
        ["fill", "Amount", "500"],
        ["fill", "To", "ada"],
      ],
      words: ["No more than 100."],
    },
    steps: [
      ["fill", "Amount", "5"],
      ["press", "Send decision"],
    ],
    given: { approved: true, editedArgs: { to: "ada", amount: 5 } },
    said: "You edited pay",
  },
];
