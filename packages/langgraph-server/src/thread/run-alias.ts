/**
 * CopilotKit answers a question under the id of the run that asked it. That id is taken, so the answer's run has one of its own
 * behind the client's; on the wire it is the client's again.
 */
const OF_ANSWER = /#answer-[0-9a-f-]{36}$/;

export function answerAlias(clientRunId: string, runId: string): string {
  return `${clientRunId}#answer-${runId}`;
}

/** What the client calls the run. */
export function clientRunIdOf(alias: string): string {
  return alias.replace(OF_ANSWER, "");
}
