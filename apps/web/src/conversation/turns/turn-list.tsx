"use client";

import type { ReactNode } from "react";
import { useDrawnFrom } from "../scroll/use-drawn-from";
import { useLinkedTurn } from "../scroll/use-linked-turn";
import { turnAnchor } from "./turn-anchor";
import { TurnView } from "./turn-view";
import type { Turn } from "./turns";

interface TurnListProps {
  readonly turns: readonly Turn[];
  readonly openedAt: number;
  /** All are drawn at once, to be searched. */
  readonly isSearched: boolean;
  /** The address names a turn, which is brought into sight. */
  readonly onLinked: () => void;
}

/** The turns on their line, the newest at the end. */
export function TurnList({ turns, openedAt, isSearched, onLinked }: TurnListProps): ReactNode {
  const drawnFrom = useDrawnFrom(turns.length);
  const linked = useLinkedTurn(turns, onLinked);
  return (
    <ol>
      {turns.map((turn, at) => (
        <TurnView
          key={turn.key}
          turn={turn}
          isLast={at === turns.length - 1}
          openedAt={openedAt}
          isDeferred={at < drawnFrom && !isSearched}
          isLinked={linked === turnAnchor(turn.key)}
        />
      ))}
    </ol>
  );
}
