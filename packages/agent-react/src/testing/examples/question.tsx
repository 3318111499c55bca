import { useInterrupt } from "../../index.js";

export function Question() {
  const asked = useInterrupt();
  if (!asked) return null;
  switch (asked.kind) {
    case "approvals":
      return (
        <form action={() => void asked.answer(asked.question.actions.map(() => ({ type: "approve" })))}>
          {asked.question.actions.map(({ name, args }) => `${name} ${JSON.stringify(args)}`).join(", ")}
          <button type="submit">Approve</button>
          <button type="button" onClick={() => void asked.dismiss?.()}>
            Reject
          </button>
        </form>
      );
    case "options":
      return asked.question.options.map(({ label, value }) => (
        <button key={label} type="button" onClick={() => void asked.answer(value)}>
          {label}
        </button>
      ));
    default:
      return <p>{asked.question.message}</p>;
  }
}
