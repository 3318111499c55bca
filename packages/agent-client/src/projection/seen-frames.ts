/** Which of the last frames came, so that one that comes twice counts once. O(1) a frame, however many are remembered. */
export interface SeenFrames {
  /** By cursor, in the order they came. Shared with later values: a place from `count` on is nothing to this one. */
  readonly places: ReadonlyMap<string, number>;
  readonly count: number;
}

export const noneSeen: SeenFrames = { places: new Map(), count: 0 };

const REMEMBERED = 64;

export function isSeen({ places, count }: SeenFrames, id: string): boolean {
  const place = places.get(id);
  return place !== undefined && place < count;
}

/** One that was not seen yet. */
export function addSeen(seen: SeenFrames, id: string): SeenFrames {
  const { places, count } = seen;
  // The newest value alone may add to the shared map; one that was left and then taken up again makes its own.
  const mayAdd = places.size === count && count < 2 * REMEMBERED;
  const next = mayAdd ? (places as Map<string, number>) : lastOf(seen);
  next.set(id, next.size);
  return { places: next, count: next.size };
}

function lastOf({ places, count }: SeenFrames): Map<string, number> {
  const last = [...places.keys()].slice(0, count).slice(-REMEMBERED);
  return new Map(last.map((id, place) => [id, place]));
}
