"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type CallerInfo, createAccountApi, type ThreadName } from "@throughline/agent-client";
import { pageFetch } from "../page-fetch";
import { keys } from "./keys";
import { type Resource, useResource } from "./resource";

/** The service's own routes, as the console passes them on. */
const accountApi = createAccountApi({ url: "/api/throughline", fetch: pageFetch });

/** Who is signed in. */
export function useCallerInfo(): Resource<CallerInfo> {
  return useResource({ queryKey: keys.caller, queryFn: readCaller });
}

async function readCaller(): Promise<CallerInfo> {
  const answer = await accountApi.caller();
  if (!("kind" in answer)) return answer;
  throw new Error(answer.kind === "refused" ? answer.message : "The console can't be reached.");
}

interface VisibilityChange {
  readonly thread: ThreadName;
  readonly visibility: "private" | "account";
}

/** Shares a thread with the account, or takes it back. Gives what it is then. */
export function useChangeVisibility() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ thread, visibility }: VisibilityChange) => {
      const answer = await accountApi.changeVisibility(thread, visibility);
      if (typeof answer === "string") return answer;
      throw new Error(answer.kind === "refused" ? answer.message : "The service does not answer. Try again.");
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: keys.threads }),
  }).mutateAsync;
}
