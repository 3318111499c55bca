"use client";

import { type ReactNode, useEffect, useState } from "react";
import { relativeWords, wordsChangeAfter } from "./relative-words";

interface RelativeTimeProps {
  /** Milliseconds since the Unix epoch, or how the service writes a time. */
  readonly at: number | string;
  readonly className?: string;
}

/** A time as one would say it, with the exact one behind it. It goes along with the clock. */
export function RelativeTime({ at, className }: RelativeTimeProps): ReactNode {
  const time = typeof at === "number" ? at : Date.parse(at);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setTimeout(() => setNow(Date.now()), wordsChangeAfter(time, now));
    return () => clearTimeout(timer);
  }, [time, now]);
  const date = new Date(time);
  if (Number.isNaN(time)) return null;
  return (
    // What a server wrote is older by the time a browser reads it.
    <time
      dateTime={date.toISOString()}
      title={date.toLocaleString()}
      className={className}
      suppressHydrationWarning
    >
      {relativeWords(time, Math.max(now, 0))}
    </time>
  );
}
