"use client";

import { type ReactNode, useEffect, useMemo, useState } from "react";
import { Button, IconButton } from "../../design/button";
import { Icon } from "../../design/icon";
import type { ThreadLogSnapshot } from "../../inspector/thread-log";
import { useThreadLog } from "../../inspector/use-thread-log";
import type { Run } from "../../service/queries/runs";
import { createReplay, recordRun } from "./replay-run";
import { ReplayView } from "./replay-view";
import styles from "./run-replay.module.css";

interface RunReplayProps {
  readonly run: Run;
  /** How many entries the log has of it. */
  readonly entries: number;
  readonly onBack: () => void;
}

/** Waiting for people and for slow models is not what one wants to see again. */
const LONGEST_PAUSE_MS = 400;

/** A run once more: its log up to wherever the slider stands. */
export function RunReplay({ run, entries, onBack }: RunReplayProps): ReactNode {
  const log = useThreadLog();
  // biome-ignore lint/correctness/useExhaustiveDependencies: of all that comes, only this run's own entries matter
  const { envelopes, replay } = useMemo(() => {
    const recording = recordRun(envelopesOf(log), run.runId);
    return { envelopes: recording.envelopes, replay: createReplay(recording) };
  }, [run.runId, entries, log.generation]);
  const [wanted, setWanted] = useState<number>();
  const [isPlaying, setPlaying] = useState(false);
  const last = envelopes.length;
  const isCompacted = envelopes.some(({ merged }) => merged !== undefined);
  // Not moved yet: it stands at the end, wherever that is by now.
  const place = Math.min(wanted ?? last, last);
  const now = envelopes[place - 1];
  const next = envelopes[place];

  useEffect(() => {
    if (!isPlaying) return;
    if (!next) {
      setPlaying(false);
      return;
    }
    const gap = now ? (next.ts - now.ts) * 1_000 : 0;
    const timer = setTimeout(() => setWanted(place + 1), Math.max(16, Math.min(gap, LONGEST_PAUSE_MS)));
    return () => clearTimeout(timer);
  }, [isPlaying, place, now, next]);

  function play(): void {
    if (!isPlaying && place === last) setWanted(0);
    setPlaying(!isPlaying);
  }

  function moveTo(target: number): void {
    setPlaying(false);
    setWanted(Math.max(0, Math.min(last, target)));
  }

  const words = now
    ? `${now.type}, ${secondsWords(now.ts - (envelopes[0]?.ts ?? now.ts))}`
    : "before it began";
  return (
    <section className={styles.replay} aria-label="Replay of a run">
      <header className={styles.head}>
        <Button look="quiet" className={styles.back} onClick={onBack}>
          <span className={styles.chevron}>
            <Icon name="chevronRight" size={14} />
          </span>
          All runs
        </Button>
        <span className={styles.note}>{isCompacted ? "Read only, compacted" : "Read only"}</span>
      </header>
      <div className={styles.controls}>
        <input
          type="range"
          className={styles.slider}
          min={0}
          max={last}
          value={place}
          aria-label="Position in the run's log"
          aria-valuetext={`Entry ${place} of ${last}, ${words}`}
          onChange={(event) => moveTo(event.target.valueAsNumber)}
        />
        <div className={styles.row}>
          <IconButton
            icon={isPlaying ? "pause" : "play"}
            label={isPlaying ? "Pause" : "Play"}
            onClick={play}
          />
          <span className={styles.place}>
            {place} <span className={styles.of}>of {last}</span>
          </span>
          <code className={styles.type}>{words}</code>
        </div>
      </div>
      <ReplayView view={replay.viewAt(place)} />
    </section>
  );
}

function* envelopesOf({ entries, count }: ThreadLogSnapshot) {
  for (let at = 0; at < count; at += 1) {
    const entry = entries[at];
    if (entry) yield entry.envelope;
  }
}

function secondsWords(seconds: number): string {
  return `${Math.max(0, seconds).toFixed(2)} s`;
}
