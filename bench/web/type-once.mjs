import { runOf } from "../server/our-routes.mjs";

export const ACCOUNT = "bench";

/** One run of the typist, to its end. */
export async function typeOnce(service, threadId, typing) {
  const { url, body } = runOf(service, "typist", threadId, typing);
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-throughline-account": ACCOUNT },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!text.includes("RUN_FINISHED")) throw new Error(`A run of the bench failed: ${text.slice(-500)}`);
}
