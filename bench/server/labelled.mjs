/**
 * The same values under names for a report.
 *
 * @param {Record<string | number, number>} values
 * @param {(key: string) => string} label
 */
export function labelled(values, label) {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [label(key), value]));
}
