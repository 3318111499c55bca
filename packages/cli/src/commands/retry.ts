import { runAgainCommand } from "../run-again.js";

export const retryCommand = runAgainCommand({
  name: "retry",
  summary: "Tries again what failed",
  help: [
    "For a thread whose last run failed, was lost or was stopped, whatever the cause: it goes on from where it broke off, or,",
    "where nothing of it was stored, begins anew with what it was given.",
    "",
    "  throughline retry poet rivers",
  ],
  route: "retry",
  done: "It runs again. See it with:",
  show: (agent, thread) => `throughline watch ${agent} ${thread}`,
});
