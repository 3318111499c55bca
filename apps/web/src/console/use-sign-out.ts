"use client";

import { useCallback } from "react";
import { useToaster } from "../design/toast";
import { signOut } from "./sign-out";

/** Signs out, and says so when it could not be done. */
export function useSignOut(): () => void {
  const toaster = useToaster();
  return useCallback(async () => {
    if (await signOut()) return;
    toaster.show({
      key: "sign-out",
      tone: "danger",
      title: "You are still signed in",
      text: "The console does not answer. Check your connection and sign out again.",
    });
  }, [toaster]);
}
