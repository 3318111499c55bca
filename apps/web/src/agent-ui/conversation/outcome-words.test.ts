import { expect, test } from "vitest";
import { ServiceError } from "../../data/request";
import { outcomeText, startProblem } from "./outcome-text";

test("a busy thread is the same outcome by a command and by a route of its own, and no failure", () => {
  const busy = startProblem(new ServiceError("busy", "A run is active."));
  expect(busy).toEqual({ text: outcomeText({ kind: "busy", runId: "r" }), tone: "waiting" });
});

test("everything else that keeps a run from starting is a failure with its own words", () => {
  expect(startProblem(new ServiceError("forbidden", "You may not run this."))).toEqual({
    text: "You may not run this.",
    tone: "danger",
  });
});
