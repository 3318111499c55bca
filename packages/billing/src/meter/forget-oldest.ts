/** Keeps a map that grows with what happens from growing for ever: past `limit` the entry that was set first goes. */
export function forgetOldest(map: Map<string, unknown>, limit: number): void {
  if (map.size <= limit) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
