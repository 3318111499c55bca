"use client";

import { type ThreadName, threadCall } from "@throughline/agent-client";
import { useThread, useThreadHandle } from "@throughline/agent-react";
import * as z from "zod/mini";
import { askService, ServiceError } from "../../service/ask-service";
import { type Resource, useResource } from "../../service/use-resource";

const listingSchema = z.object({
  title: z.nullable(z.string()),
  titledByPerson: z.boolean(),
  archived: z.boolean(),
});
type ThreadListing = z.output<typeof listingSchema>;

/** How the thread is listed. Asked again when a run begins or ends: that is when the service gives it a title. */
export function useThreadListing(): Resource<ThreadListing | undefined> {
  const handle = useThreadHandle();
  // A thread in which nothing ran is listed nowhere.
  const moment = useThread(({ view: { run } }) =>
    run && run.serviceRunId !== "throughline:empty" ? `${run.serviceRunId} ${run.status}` : undefined,
  );
  const key = moment === undefined ? undefined : `${threadCall(handle)} ${moment}`;
  return useResource(key, async (signal) => {
    try {
      return await askService(threadCall(handle), listingSchema, { signal });
    } catch (error) {
      // Nothing has been said in it yet.
      if (error instanceof ServiceError && error.code === "not_found") return undefined;
      throw error;
    }
  });
}

/** An empty title gives the derived one back. */
export async function renameThread(thread: ThreadName, title: string): Promise<void> {
  await askService(threadCall(thread), z.unknown(), {
    method: "PATCH",
    body: { title: title.trim() || null },
  });
}
