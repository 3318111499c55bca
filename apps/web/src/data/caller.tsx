"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type CallerInfo, createAccountApi, refusalOf, type ThreadName } from "@throughline/agent-client";
import { createContext, useContext, useMemo } from "react";
import { keys, type Resource, useResource } from "./query";
import { pageFetch } from "./request";

/** The service's own routes, as the console passes them on. */
const accountApi = createAccountApi({ url: "/api/throughline", fetch: pageFetch });

/** Who is signed in. */
function useCallerInfo(): Resource<CallerInfo> {
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

/** Who is signed in, and what their role lets them do. */
export interface Caller {
  /** Whether they have threads of their own beside those the account shares; `undefined` until the service has said. */
  readonly isPerson: boolean | undefined;
  /** Their id within the account, `null` for the account itself; `undefined` until the service has said. */
  readonly subject: CallerInfo["subject"] | undefined;
  readonly role: string | undefined;
  /** Why they may not do this; `undefined` where they may, and until the service has said. */
  refusal(action: string, thread?: Pick<ThreadName, "visibility">): string | undefined;
}

/** Set by the console, which asks once for every page. */
export const CallerContext = createContext<Caller | undefined>(undefined);

export function useCaller(): Caller {
  const caller = useContext(CallerContext);
  if (!caller) throw new Error("useCaller() needs the console's layout above it.");
  return caller;
}

/** For the console itself. */
export function useAskedCaller(): Caller {
  const { value, problem } = useCallerInfo();
  return useMemo(() => {
    // A service that does not say treats each caller as one without threads of their own.
    const isPerson = value ? value.subject !== null : problem ? false : undefined;
    return {
      isPerson,
      subject: value?.subject,
      role: value?.role,
      refusal: (action, thread) => value && refusalOf(value, action, thread),
    };
  }, [value, problem]);
}
