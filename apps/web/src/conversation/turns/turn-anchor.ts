/** The part of an address that leads to a turn. */
export function turnAnchor(key: string): string {
  return `turn-${encodeURIComponent(key)}`;
}
