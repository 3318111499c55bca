import { usePredictState } from "../../index.js";

export function Plan() {
  const plan = usePredictState((state) => state.plan);
  return <pre>{typeof plan === "string" ? plan : "No plan yet."}</pre>;
}
