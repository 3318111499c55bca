"use client";

import { type ReactNode, useCallback, useState, useSyncExternalStore } from "react";
import { forgetPageDrafts } from "../agent-ui/composer/drafts";
import { Button } from "../agent-ui/primitives/button";
import { Dialog } from "../agent-ui/primitives/dialog";
import { useToaster } from "../agent-ui/primitives/toast";
import { otherSignIn } from "../data/request";
import { endSession } from "./session-end";

/**
 * Ends the session and leaves the page: nothing of an account may stay in memory, nor its drafts in the browser. `false`: the
 * session could not be ended.
 */
async function signOut(): Promise<boolean> {
  if (!(await endSession())) return false;
  forgetPageDrafts();
  location.assign("/sign-in");
  return true;
}

/** Returns a function that signs out and reports a failure. */
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

/** Reports the current sign-in where this page belongs to another account or person, and offers to continue as either. */
export function OtherSignInDialog({ account }: { readonly account: string }): ReactNode {
  const other = useSyncExternalStore(otherSignIn.subscribe, otherSignIn.getSnapshot, () => undefined);
  const [closed, setClosed] = useState<typeof other>();
  const signIn = `/sign-in?to=${encodeURIComponent(typeof location === "undefined" ? "/" : location.pathname)}`;
  const actions = (
    <>
      <Button onClick={() => location.assign(signIn)}>Sign in as {account}</Button>
      <Button look="primary" onClick={() => location.reload()}>
        Switch to {other?.signedInAs}
      </Button>
    </>
  );
  return (
    <Dialog
      isOpen={other !== undefined && other !== closed}
      onClose={() => setClosed(other)}
      title={`You are signed in as ${other?.signedInAs} now`}
      actions={actions}
      size="small"
    >
      {/* Opens by itself, often while a person types: their next Enter must not press a button. */}
      <p tabIndex={-1} data-autofocus>
        This page was opened as {account}, and another tab of this browser has signed in since. Nothing was
        sent. What is shown here is kept until you leave the page.
      </p>
    </Dialog>
  );
}
