"use client";

import { type ReactNode, useCallback, useSyncExternalStore } from "react";
import { relativeWords, wordsChangeAfter } from "./relative-words";
import { sharedInterval } from "./shared-interval";

interface RelativeTimeProps {
  /** Milliseconds since the Unix epoch, or how the service writes a time. */
  readonly at: number | string;
  readonly className?: string;
}

/** A time as one would say it, with the exact one behind it. It goes along with the clock, and is drawn anew when its words are others. */
export function RelativeTime({ at, className }: RelativeTimeProps): ReactNode {
  const time = typeof at === "number" ? at : Date.parse(at);
  const read = () => relativeWords(time, Date.now());
  // As it ages its words change ever more seldom, and whenever that happens it is drawn, and asks again how often.
  const period = wordsChangeAfter(time, Date.now());
  const subscribe = useCallback((listener: () => void) => sharedInterval(period, listener), [period]);
  const words = useSyncExternalStore(subscribe, read, read);
  if (Number.isNaN(time)) return null;
  return (
    // What a server wrote is older by the time a browser reads it.
    <time
      dateTime={new Date(time).toISOString()}
      title={exactly(time)}
      className={className}
      suppressHydrationWarning
    >
      {words}
    </time>
  );
}

let format: Intl.DateTimeFormat | undefined;

/** A format costs far more to make than to use, and a long thread has hundreds of times. */
function exactly(time: number): string {
  format ??= new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
  return format.format(time);
}
