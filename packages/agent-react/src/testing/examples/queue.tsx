import { contentText, useQueue } from "../../index.js";

export function Waiting() {
  const { queue, add, discard } = useQueue();
  return (
    <form action={(form) => void add(`${form.get("text")}`)}>
      {queue.map(({ id, input }) => (
        <p key={id}>
          {contentText(input.messages?.[0]?.content)}
          <button type="button" onClick={() => discard(id)}>
            Discard
          </button>
        </p>
      ))}
      <input name="text" />
    </form>
  );
}
