import { shallowEqual, useThread } from "../../index.js";

export function RunningWork() {
  const running = useThread(({ view }) => view.calls.filter((call) => call.endedAt === null), shallowEqual);
  return <p>{running.map(({ name }) => name).join(", ")}</p>;
}
