"use client";

import { useInterrupt } from "@copilotkit/react-core/v2";

interface Question {
  readonly message?: string;
  readonly options?: readonly Record<string, string>[];
  readonly recommendation?: Record<string, string>;
  /** LangChain's human in the loop. */
  readonly actionRequests?: readonly { readonly name: string; readonly args: unknown }[];
}

/** What a graph asks, as buttons in the chat. */
export function Questions({ agentId }: { readonly agentId: string }) {
  useInterrupt({
    agentId,
    render: ({ event, resolve }) => <Card question={read(event.value)} answer={resolve} />,
  });
  return null;
}

/** Agents send JSON as text; one that asks in plain words sends just these. */
function read(value: unknown): Question {
  if (typeof value !== "string") return (value ?? {}) as Question;
  try {
    return JSON.parse(value);
  } catch {
    return { message: value };
  }
}

function Card({
  question,
  answer,
}: {
  readonly question: Question;
  readonly answer: (value: unknown) => void;
}) {
  const { message, options = [], recommendation, actionRequests: actions = [] } = question;
  const isRecommended = (option: object) => JSON.stringify(option) === JSON.stringify(recommendation);
  const decide = (type: "approve" | "reject") => answer({ decisions: actions.map(() => ({ type })) });
  return (
    <section aria-label="Question" style={{ padding: 16, border: "1px solid #ccc", borderRadius: 8 }}>
      <p style={{ whiteSpace: "pre-line" }}>{message ?? "May I?"}</p>
      {actions.map(({ name, args }) => (
        <pre key={name}>{`${name} ${JSON.stringify(args)}`}</pre>
      ))}
      <div style={{ display: "flex", gap: 8, flexWrap: "wrap" }}>
        {options.map((option) => (
          <button key={JSON.stringify(option)} type="button" onClick={() => answer(option)} style={BUTTON}>
            {Object.values(option).join(" · ")}
            {isRecommended(option) ? " ★" : ""}
          </button>
        ))}
        {actions.length > 0 && (
          <>
            <button type="button" onClick={() => decide("approve")} style={BUTTON}>
              Approve
            </button>
            <button type="button" onClick={() => decide("reject")} style={BUTTON}>
              Reject
            </button>
          </>
        )}
      </div>
    </section>
  );
}

const BUTTON = { padding: "8px 12px", border: "1px solid #888", borderRadius: 6, cursor: "pointer" };
