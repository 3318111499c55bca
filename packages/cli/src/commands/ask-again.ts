import { runAgainCommand } from "../run-again.js";

export const askAgainCommand = runAgainCommand({
  name: "ask-again",
  summary: "Asks again what an answer made fail",
  help: [
    "For a thread whose run failed because of an answer: the answer is taken back, and the question is asked anew. A graph",
    "that paused at a breakpoint goes on.",
    "",
    "  throughline ask-again approver refunds",
  ],
  route: "ask-again",
  done: "The agent goes on. See what it asks, and answer, with:",
  show: (agent, thread) => `throughline run ${agent} --thread ${thread}`,
});
