import { contentText, useCommands, useMessages } from "../../index.js";

export function Sent() {
  const { resend, discard } = useCommands();
  const own = useMessages().filter(({ role }) => role === "user");
  return own.map(({ id, content, local }) => (
    <p key={id} aria-busy={local === "sending"}>
      {contentText(content)}
      {local === "unsent" && (
        <>
          <button type="button" onClick={() => void resend(id)}>
            Send again
          </button>
          <button type="button" onClick={() => discard(id)}>
            Discard
          </button>
        </>
      )}
    </p>
  ));
}
