"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type CallerInfo, createAccountApi, refusalOf, type ThreadName } from "@throughline/agent-client";
import { createContext, useContext, useMemo } from "react";
import { keys, type Resource, useResource } from "./query";
import { pageFetch } from "./request";

/** Client of the service's account routes, through the console's proxy. */
const accountApi = createAccountApi({ url: "/api/throughline", fetch: pageFetch });

/** Requests the signed-in caller. */
function useCallerInfo(): Resource<CallerInfo> {
  return useResource({ queryKey: keys.caller, queryFn: readCaller });
}

async function readCaller(): Promise<CallerInfo> {
  const result = await accountApi.caller();
  if (!("kind" in result)) return result;
  throw new Error(result.kind === "refused" ? result.message : "The console can't be reached.");
}

interface VisibilityChange {
  readonly thread: ThreadName;
  readonly visibility: "private" | "account";
}

/** Shares a thread with the account or makes it private. Returns its new visibility. */
export function useChangeVisibility() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ thread, visibility }: VisibilityChange) => {
      const result = await accountApi.changeVisibility(thread, visibility);
      if (typeof result === "string") return result;
      throw new Error(result.kind === "refused" ? result.message : "The service does not answer. Try again.");
    },
    onSuccess: () => void queries.invalidateQueries({ queryKey: keys.threads }),
  }).mutateAsync;
}

/** The signed-in caller, and what their role allows. */
export interface Caller {
  /** Whether they have private threads in addition to the account's; `undefined` until the first response. */
  readonly isPerson: boolean | undefined;
  /** Their id within the account, `null` for the account itself; `undefined` until the first response. */
  readonly subject: CallerInfo["subject"] | undefined;
  readonly role: string | undefined;
  /** Reason why they may not do this; `undefined` where they may, and until the first response. */
  refusal(action: string, thread?: Pick<ThreadName, "visibility">): string | undefined;
}

/** Provided by the console, which requests the caller once for all pages. */
export const CallerContext = createContext<Caller | undefined>(undefined);

export function useCaller(): Caller {
  const caller = useContext(CallerContext);
  if (!caller) throw new Error("useCaller() needs the console's layout above it.");
  return caller;
}

/** Requests the caller, for the console's provider only. */
export function useCallerQuery(): Caller {
  const { value, problem } = useCallerInfo();
  return useMemo(() => {
    // A service without this route treats each caller as one without private threads.
    const isPerson = value ? value.subject !== null : problem ? false : undefined;
    return {
      isPerson,
      subject: value?.subject,
      role: value?.role,
      refusal: (action, thread) => value && refusalOf(value, action, thread),
    };
  }, [value, problem]);
}
