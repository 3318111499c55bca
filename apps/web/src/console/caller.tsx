"use client";

import { type CallerInfo, createAccountApi, refusalOf, type ThreadName } from "@throughline/agent-client";
import { createContext, useContext, useMemo } from "react";
import { pageFetch } from "../service/page-fetch";
import { useResource } from "../service/use-resource";

/** Who is signed in, and what their role lets them do. */
export interface Caller {
  /** Whether they have threads of their own beside those the account shares; `undefined` until the service has said. */
  readonly isPerson: boolean | undefined;
  readonly role: string | undefined;
  /** Why they may not do this; `undefined` where they may, and until the service has said. */
  refusal(action: string, thread?: Pick<ThreadName, "visibility">): string | undefined;
}

/** The service's own routes, as the console passes them on. */
export const accountApi = createAccountApi({ url: "/api/throughline", fetch: pageFetch });

/** Set by the console, which asks once for every page. */
export const CallerContext = createContext<Caller | undefined>(undefined);

export function useCaller(): Caller {
  const caller = useContext(CallerContext);
  if (!caller) throw new Error("useCaller() needs the console's layout above it.");
  return caller;
}

/** For the console itself. */
export function useAskedCaller(): Caller {
  const { value, problem } = useResource("caller", askCaller);
  return useMemo(() => {
    // A service that does not say treats each caller as one without threads of their own.
    const isPerson = value ? value.subject !== null : problem ? false : undefined;
    return {
      isPerson,
      role: value?.role,
      refusal: (action, thread) => value && refusalOf(value, action, thread),
    };
  }, [value, problem]);
}

async function askCaller(): Promise<CallerInfo> {
  const answer = await accountApi.caller();
  if (!("kind" in answer)) return answer;
  throw new Error(answer.kind === "refused" ? answer.message : "The console can't be reached.");
}
