import type { Json } from "@throughline/ai-core";
import { checkSchema } from "../check-schema.js";
import { mismatch, type ResponseProblem } from "../mismatch.js";
import { isObject, nameOf } from "../plain.js";
import { ACTIONS, type ElicitationItem, type ElicitationRequest } from "./elicitation.js";

/** Validates responses to an elicitation. A module of its own, so that a page that only parses interrupts loads no validator. */
export function validateElicitation(
  { form, requests }: ElicitationRequest,
  response: Json,
): ResponseProblem | null {
  if (!isObject(response)) return mismatch(`Expected an object with an action, got ${nameOf(response)}.`);
  if (form === "single") return requests[0] ? checkOne(requests[0], response, []) : null;
  const { responses } = response;
  if (!isObject(responses)) return mismatch("The responses are missing.", "responses");
  for (const request of requests) {
    const problem = checkOne(request, responses[request.key], ["responses", request.key]);
    if (problem) return problem;
  }
  const unknown = Object.keys(responses).find((key) => !requests.some((request) => request.key === key));
  return unknown === undefined ? null : mismatch("No such request was made.", "responses", unknown);
}

function checkOne(
  { mode, schema }: ElicitationItem,
  response: Json | undefined,
  at: readonly string[],
): ResponseProblem | null {
  const action = isObject(response) ? response.action : undefined;
  if (!isObject(response) || typeof action !== "string" || !ACTIONS.includes(action)) {
    return mismatch(`The action must be one of: ${ACTIONS.join(", ")}.`, ...at, "action");
  }
  if (action !== "accept" || mode === "url" || !schema) return null;
  const problem = checkSchema(schema, response.content ?? null);
  return problem && mismatch(problem.problem, ...at, "content", ...(problem.path ? [problem.path] : []));
}
