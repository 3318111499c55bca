import { withPostgres } from "../start-postgres.mjs";
import { startCopilotKit } from "./copilotkit-runtime.mjs";
import { startLangGraphServer } from "./langgraph-server.mjs";
import { startOurService } from "./our-service.mjs";

/** Each way in which a peer is measured. */
export const PEERS = {
  langgraph: [startLangGraphServer, (load) => startLangGraphServer({ ...load, isResumable: false })],
  copilotkit: [startCopilotKit],
};

/** Our service on a fresh PostgreSQL. */
export function withOurService(options, progress, work) {
  return withPostgres(progress, (postgres) =>
    withSubject(() => startOurService({ postgres, ...options }), work),
  );
}

export async function withSubject(start, work) {
  const subject = await start();
  try {
    return await work(subject);
  } finally {
    await subject.stop();
  }
}
