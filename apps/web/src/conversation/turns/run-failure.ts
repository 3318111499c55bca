import type { CallView, RunErrorView } from "@throughline/agent-client";
import { type CallIndex, failedStep } from "../calls/call-index";
import type { Failure } from "../calls/failure-detail";

/**
 * Why a run failed. The graph's own words come with the last run, and stay with the step that threw for as long as the
 * service keeps that step.
 */
export function runFailure(run: CallView, index: CallIndex, last: RunErrorView | null): Failure | undefined {
  if (run.status !== "error") return undefined;
  const { own, ...told } = last ?? {};
  const step = failedStep(run, index)?.error;
  const error: Failure | undefined = run.error ?? (last ? { ...told, message: last.message } : step);
  if (!error) return undefined;
  if (own) return { ...error, ...own };
  return step?.stack === undefined ? error : { ...error, ...step };
}

/** How a run failed, in one sentence. */
export function failureWords(failure: Failure | undefined): string {
  if (!failure) return "The run failed.";
  const { node, name, message } = failure;
  const what = name === undefined ? message : `${name}: ${message}`;
  // A message of the service may name the node already.
  const where = !node || message.includes(`\`${node}\``) ? "" : ` in node \`${node}\``;
  return `The run failed${where}: ${what}`;
}
