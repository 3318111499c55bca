import type { SubscribeFrom, ThreadAddress, ThreadStreams } from "@throughline/langgraph-server";
import { createParser } from "eventsource-parser";

export interface Frame {
  readonly id: string | undefined;
  readonly data: { readonly type: string; readonly [key: string]: unknown };
}

export interface RecordedWatch {
  readonly frames: readonly Frame[];
  /** Why nothing follows. */
  readonly ended: Promise<string>;
}

/** A reader of AG-UI that keeps up, and remembers. */
export function recordFrames(hub: ThreadStreams, thread: ThreadAddress, from: SubscribeFrom): RecordedWatch {
  const frames: Frame[] = [];
  const parser = createParser({
    onEvent: ({ id, data }) => void frames.push({ id, data: JSON.parse(data) }),
  });
  const ended = new Promise<string>((resolve) => {
    hub.subscribe(
      thread,
      { face: { kind: "ag-ui", line: "0.0", interrupts: "legacy" }, from, follow: false },
      {
        write(buffers) {
          for (const buffer of buffers) parser.feed(buffer.toString());
          return true;
        },
        drained: () => Promise.resolve(),
        end: ({ reason }) => resolve(reason),
      },
    );
  });
  return { frames, ended };
}
