import { useCustomEvents } from "../../index.js";

export function Steps() {
  const steps = useCustomEvents("step");
  return <p>{steps.map(({ value }) => JSON.stringify(value)).join(" → ")}</p>;
}
