"use client";

import { useEventLog } from "@throughline/agent-react";
import { ENVELOPE_TYPES } from "@throughline/ai-core";
import { type ReactNode, useId, useMemo, useState } from "react";
import { Button } from "../../agent-ui/primitives/button";
import { Icon } from "../../agent-ui/primitives/icon";
import styles from "./inspector.module.css";
import { EntryDetail, LogPane, type LogSource } from "./log-pane";
import { envelopeRow, frameRow, frameText, type LogRow, latencyText } from "./log-row";
import { cursorPosition, type LogStatus, useThreadLog } from "./thread-log";

type Reading = "envelopes" | "ag-ui";

const STATUS_LABELS: Readonly<Record<LogStatus, string>> = {
  closed: "Closed",
  connecting: "Reading the log",
  live: "Live",
  reconnecting: "Reconnecting",
  over: "Closed: the thread is gone, or you are signed out",
};

/** Shows the thread's raw log, live: the envelopes that the service stored, and the AG-UI frames that this page received. */
export function Inspector(): ReactNode {
  const liveLog = useThreadLog();
  const liveFrames = useEventLog();
  const [held, setHeld] = useState<{ log: typeof liveLog; frames: typeof liveFrames }>();
  const [search, setSearch] = useState("");
  const [reading, setReading] = useState<Reading>("envelopes");
  const [opened, setOpened] = useState<LogRow>();
  const id = useId();
  const log = held?.log ?? liveLog;
  const frames = held?.frames ?? liveFrames;

  const envelopes = useMemo<LogSource>(() => {
    const entryAt = (index: number) => (index < log.count ? log.entries[index] : undefined);
    return {
      generation: log.generation,
      count: log.count,
      lineAt(index) {
        const entry = entryAt(index);
        return entry && { type: entry.type, text: entry.text };
      },
      rowAt(index) {
        const entry = entryAt(index);
        return entry && envelopeRow(entry);
      },
    };
  }, [log]);

  const agUi = useMemo<LogSource>(() => {
    // The list slides once it is full: its first frame identifies the generation.
    const generation = frames[0]?.at ?? 0;
    return {
      generation,
      count: frames.length,
      lineAt(index) {
        const frame = frames[index];
        return frame && { type: frame.event.type, text: frameText(frame) };
      },
      rowAt(index) {
        const frame = frames[index];
        return frame && frameRow(frame, index);
      },
    };
  }, [frames]);
  const frameTypes = useMemo(() => [...new Set(frames.map(({ event }) => event.type))].sort(), [frames]);

  function openFrom(name: Reading): (row: LogRow | undefined) => void {
    return (row) => {
      setReading(name);
      setOpened(row);
    };
  }

  const newest = log.entries[log.count - 1];
  const status = held ? "Paused" : STATUS_LABELS[log.status];
  function choose(name: Reading): void {
    setReading(name);
    setOpened(undefined);
  }

  return (
    <div className={styles.inspector} data-reading={reading} data-detail={opened !== undefined}>
      <header className={styles.bar}>
        <fieldset className={styles.readings} aria-label="View of the log">
          <ReadingButton name="envelopes" reading={reading} onChoose={choose} />
          <ReadingButton name="ag-ui" reading={reading} onChoose={choose} />
        </fieldset>
        <label htmlFor={`${id}-search`} className="visually-hidden">
          Search the log
        </label>
        <input
          id={`${id}-search`}
          type="search"
          className={styles.search}
          placeholder="Search the JSON"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
        <p className={styles.status} role="status" data-status={held ? "paused" : log.status}>
          {status}
        </p>
        {newest && (
          <p className={styles.latency} title={`Cursor ${newest.cursor}`}>
            at {cursorPosition(newest.cursor)?.seq ?? newest.cursor}
          </p>
        )}
        <p className={styles.latency} title="Time between writing an entry and receiving it here">
          {latencyText(log)}
        </p>
        <Button
          look="quiet"
          aria-label={held ? "Go on" : "Pause"}
          onClick={() => setHeld(held ? undefined : { log: liveLog, frames: liveFrames })}
        >
          <Icon name={held ? "play" : "pause"} />
          <span className={styles.pauseWord}>{held ? "Go on" : "Pause"}</span>
        </Button>
      </header>
      <div className={styles.panes}>
        <div className={styles.envelopes}>
          <LogPane
            title="Envelopes"
            source={envelopes}
            types={ENVELOPE_TYPES}
            emptyText="Nothing has happened in this thread yet. Everything that does is written here first."
            search={search}
            opened={opened}
            onOpen={openFrom("envelopes")}
          />
        </div>
        <div className={styles.frames}>
          <LogPane
            title="AG-UI"
            source={agUi}
            types={frameTypes}
            emptyText="No frame has come yet. The newest 1,000 are kept."
            search={search}
            opened={opened}
            onOpen={openFrom("ag-ui")}
          />
        </div>
        {opened && (
          <div className={styles.entry}>
            <EntryDetail row={opened} onClose={() => setOpened(undefined)} />
          </div>
        )}
      </div>
    </div>
  );
}

interface ReadingButtonProps {
  readonly name: Reading;
  readonly reading: Reading;
  readonly onChoose: (name: Reading) => void;
}

function ReadingButton({ name, reading, onChoose }: ReadingButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={styles.reading}
      aria-pressed={name === reading}
      onClick={() => onChoose(name)}
    >
      {name === "envelopes" ? "Envelopes" : "AG-UI"}
    </button>
  );
}
