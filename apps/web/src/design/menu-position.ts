const GAP = 4;
const EDGE = 8;

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Below what opened it and flush with its left, unless there is more room to the other side. Never past the window's edge. */
export function menuPosition(
  opener: Box,
  floating: Size,
  room: Size,
): { readonly left: number; readonly top: number } {
  const fitsRight = opener.left + floating.width + EDGE <= room.width;
  const left = fitsRight ? opener.left : opener.right - floating.width;
  const fitsBelow = opener.bottom + GAP + floating.height + EDGE <= room.height;
  const top = fitsBelow ? opener.bottom + GAP : opener.top - GAP - floating.height;
  return {
    left: Math.max(EDGE, Math.min(left, room.width - floating.width - EDGE)),
    top: Math.max(EDGE, Math.min(top, room.height - floating.height - EDGE)),
  };
}

export function placeMenu(opener: Element, floating: HTMLElement): void {
  const { width, height } = floating.getBoundingClientRect();
  const { left, top } = menuPosition(
    opener.getBoundingClientRect(),
    { width, height },
    { width: innerWidth, height: innerHeight },
  );
  floating.style.left = `${left}px`;
  floating.style.top = `${top}px`;
}
