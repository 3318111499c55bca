"use client";

import { type ReactNode, useState, useSyncExternalStore } from "react";
import { Button } from "../design/button";
import { Dialog } from "../design/dialog";
import { otherSignIn } from "../service/page-fetch";

/** Says who is signed in now, where this page is of another account or person, and offers to go on as either. */
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
