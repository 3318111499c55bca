"use client";

import type { ReactNode } from "react";
import { Button } from "../../agent-ui/primitives/button";
import { EmptyState } from "../../agent-ui/primitives/empty-state";

interface ErrorProps {
  readonly reset: () => void;
}

/** Error boundary of a page; the console around it still works. */
export default function ErrorPage({ reset }: ErrorProps): ReactNode {
  return (
    <EmptyState
      isPage
      title="This page ran into a problem"
      actions={
        <>
          <Button look="primary" onClick={reset}>
            Try again
          </Button>
          <Button onClick={() => location.reload()}>Reload the page</Button>
        </>
      }
    >
      Nothing is lost: runs go on, and everything said is kept by the service.
    </EmptyState>
  );
}
