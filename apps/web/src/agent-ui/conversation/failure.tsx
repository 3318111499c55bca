import type { CallErrorView, CallView, RunErrorView } from "@throughline/agent-client";
import type { ReactNode } from "react";
import { CopyButton } from "../primitives/copy-button";
import { type CallIndex, failedStep } from "./call-index";
import styles from "./failure.module.css";

/**
 * The failure of a run. The graph's own error comes with the last run, and stays with the step that threw for as long as the
 * service stores that step.
 */
export function runFailure(run: CallView, index: CallIndex, last: RunErrorView | null): Failure | undefined {
  if (run.status !== "error") return undefined;
  const { own, ...details } = last ?? {};
  const step = failedStep(run, index)?.error;
  const error: Failure | undefined = run.error ?? (last ? { ...details, message: last.message } : step);
  if (!error) return undefined;
  if (own) return { ...error, ...own };
  return step?.stack === undefined ? error : { ...error, ...step };
}

/** A failure in one sentence. */
export function failureText(failure: Failure | undefined): string {
  if (!failure) return "The run failed.";
  const { node, name, message } = failure;
  const what = name === undefined ? message : `${name}: ${message}`;
  // A message of the service may already name the node.
  const where = !node || message.includes(`\`${node}\``) ? "" : ` in node \`${node}\``;
  return `The run failed${where}: ${what}`;
}

type ErrorClass = NonNullable<CallErrorView["class"]>;

/** A failure of a run or a step, as a page shows it. */
export interface Failure {
  /** The graph's own message where the service discloses it. */
  readonly message: string;
  readonly node?: string | null | undefined;
  readonly class?: ErrorClass | undefined;
  readonly code?: string | undefined;
  /** Name of the graph's own error. */
  readonly name?: string | undefined;
  readonly stack?: string | undefined;
}

const CLASS_LABELS: Readonly<Record<ErrorClass, string>> = {
  graph: "the graph, between its nodes",
  node: "the node's code",
  tool: "a tool",
  model: "a model call",
  upstream: "another server",
  store: "the service's database",
  cancelled: "it was stopped",
};

/** All known details of a failure. */
export function FailureDetail({ error }: { readonly error: Failure }): ReactNode {
  const { node, class: kind, code, stack } = error;
  const own = ownText(error);
  return (
    <div className={styles.detail}>
      <dl className={styles.facts}>
        {node && <Fact name="Node" value={node} />}
        {kind && <Fact name="Class" value={kind} words={CLASS_LABELS[kind]} />}
        {code !== undefined && <Fact name="Code" value={code} />}
      </dl>
      {own !== "" && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls and has no focusable element
        <pre className={styles.own} tabIndex={0}>
          {own}
        </pre>
      )}
      {stack !== undefined && <CopyButton isWordy label="Copy the error" text={() => own} />}
    </div>
  );
}

function Fact(props: { readonly name: string; readonly value: string; readonly words?: string }): ReactNode {
  return (
    <div className={styles.fact}>
      <dt>{props.name}</dt>
      <dd>
        <code>{props.value}</code>
        {props.words !== undefined && ` (${props.words})`}
      </dd>
    </div>
  );
}

/** The error as text. A stack normally begins with name and message; otherwise they are put before it. */
function ownText({ name, message, stack }: Failure): string {
  if (stack === undefined) return name === undefined ? message : `${name}: ${message}`;
  return stack.includes(message) ? stack : `${name ?? "Error"}: ${message}\n${stack}`;
}
