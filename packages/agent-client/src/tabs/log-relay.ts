import type { LogReader } from "../client/open-log.js";
import type { LogMessage, LogWord, WantedLog } from "./tab-message.js";

export interface LogRelayOptions {
  readonly tabId: string;
  /** Reads a log on this tab's own stream. */
  readonly openLog: (key: string, reader: LogReader) => () => void;
  /** As leader: tells one other tab. */
  readonly tellTab: (tab: string, word: LogWord) => void;
  /** The leader has to be told what this tab shows. */
  readonly onChange: () => void;
}

interface ShownLog {
  readonly key: string;
  readonly reader: LogReader;
  /** As leader: closes it on this tab's own stream. */
  close: (() => void) | undefined;
}

/** Logs that tabs show: each is read on the leader's stream, by who shows it or for them. */
export interface LogRelay {
  open(key: string, reader: LogReader): () => void;
  /** What this tab shows, and how far it has come. */
  wanted(): readonly WantedLog[];
  lead(): void;
  follow(): void;
  /** As leader: what another tab shows. */
  serve(tab: string, logs: readonly WantedLog[]): void;
  hear(message: LogMessage): void;
}

export function createLogRelay(options: LogRelayOptions): LogRelay {
  const shown = new Map<string, ShownLog>();
  /** Of other tabs, by tab and then by the log's id. */
  const served = new Map<string, Map<string, () => void>>();
  let isLeader = false;
  let made = 0;

  function serveOne(tab: string, { id, key, cursor }: WantedLog): () => void {
    let reached = cursor;
    return options.openLog(key, {
      cursor: () => reached,
      entries(entries) {
        reached = entries.at(-1)?.id ?? reached;
        options.tellTab(tab, { kind: "log-entries", id, entries });
      },
      statusChanged: (status) => options.tellTab(tab, { kind: "log-status", id, status }),
    });
  }

  return {
    open(key, reader) {
      made += 1;
      const id = `${options.tabId}:${made}`;
      const log: ShownLog = { key, reader, close: isLeader ? options.openLog(key, reader) : undefined };
      shown.set(id, log);
      options.onChange();
      return () => {
        if (!shown.delete(id)) return;
        log.close?.();
        options.onChange();
      };
    },
    wanted: () => [...shown].map(([id, { key, reader }]) => ({ id, key, cursor: reader.cursor() })),
    lead() {
      isLeader = true;
      for (const log of shown.values()) log.close ??= options.openLog(log.key, log.reader);
    },
    follow() {
      isLeader = false;
      for (const log of shown.values()) {
        log.close?.();
        log.close = undefined;
      }
      for (const logs of served.values()) for (const close of logs.values()) close();
      served.clear();
    },
    serve(tab, logs) {
      const before = served.get(tab) ?? new Map<string, () => void>();
      const wanted = new Map(logs.map((log) => [log.id, log]));
      for (const [id, close] of before) {
        if (wanted.has(id)) continue;
        before.delete(id);
        close();
      }
      for (const [id, log] of wanted) if (!before.has(id)) before.set(id, serveOne(tab, log));
      if (before.size > 0) served.set(tab, before);
      else served.delete(tab);
    },
    hear(message) {
      const log = shown.get(message.id);
      if (!log || isLeader) return;
      if (message.kind === "log-entries") log.reader.entries(message.entries);
      else log.reader.statusChanged(message.status);
    },
  };
}
