"use client";

import { useMutation } from "@tanstack/react-query";
import { type ThreadName, threadCall } from "@throughline/agent-client";
import * as z from "zod/mini";
import { askService } from "../ask-service";

const startedSchema = z.object({ runId: z.string() });

/** Runs the thread again from before an assistant's message, and gives the run. What comes behind that message goes with it. */
export function useRegenerate(thread: ThreadName) {
  return useRunAgain((messageId: string) => start(thread, "/regenerate", { messageId }));
}

/** Tries again what failed last, and gives the run. */
export function useRetry(thread: ThreadName) {
  return useRunAgain(() => start(thread, "/retry", {}));
}

function useRunAgain<Input = void>(mutationFn: (input: Input) => Promise<string>) {
  return useMutation({ mutationFn }).mutateAsync;
}

async function start(thread: ThreadName, route: string, body: object): Promise<string> {
  return (await askService(threadCall(thread, route), startedSchema, { method: "POST", body })).runId;
}
