import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "@throughline/ai-core";
import { createInProcProvider, createPostgresCheckpointer } from "@throughline/graph-executor";
import { threadAddress } from "@throughline/langgraph-server";
import { readMarks } from "./workshop.js";
import { workshopGraphs } from "./workshop-graphs.js";

/** The workshop's threads in one database, looked at from the side: what its saver holds, and what its tools did. */
export interface WorkshopBooks {
  /** Where the servers' tools leave their marks: their `WORKSHOP_FOLDER`. */
  readonly folder: string;
  messages(threadName: string): Promise<readonly Message[]>;
  marks(threadName: string): readonly string[];
  close(): Promise<void>;
}

export const DEADLY_WORKSHOP = new URL("./deadly-workshop.ts", import.meta.url);

export function openWorkshopBooks(databaseUrl: string): WorkshopBooks {
  const folder = mkdtempSync(join(tmpdir(), "throughline-workshop-"));
  const checkpointer = createPostgresCheckpointer({ connectionString: databaseUrl });
  const provider = createInProcProvider({
    graphs: workshopGraphs({ folder, paceMs: 0, toolMs: 0 }),
    checkpointer: checkpointer.saver,
  });
  return {
    folder,
    async messages(threadName) {
      const { graphId, ref } = addressOf(threadName);
      return (await provider.getState({ graphId, threadId: ref.threadId }))?.messages ?? [];
    },
    marks: (threadName) => readMarks(folder, addressOf(threadName).ref.threadId),
    async close() {
      await checkpointer.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Of the account that dev sign-in gives to who names none. */
function addressOf(threadName: string) {
  const caller = { billingAccountId: "dev", virtualKeyId: "dev", traceId: "none" };
  return threadAddress(caller, "workshop", threadName);
}
