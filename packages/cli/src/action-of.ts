import { closestName } from "@throughline/langgraph-server/settings";
import { UsageError } from "./usage-error.js";

/** The action that a command's first word names. */
export function actionOf<Action extends string>(
  command: string,
  typed: string,
  actions: readonly Action[],
): Action {
  const action = actions.find((each) => each === typed);
  if (action !== undefined) return action;
  const meant = closestName(typed, actions);
  const advice = meant ? `Did you mean ${meant}?` : `There is: ${actions.join(", ")}.`;
  throw new UsageError(`There is no "${command} ${typed}". ${advice}`);
}
