/** Runs `work` with the console silenced, and gives back what would have been printed as a warning or an error. */
export async function collectWarnings<T>(
  work: () => Promise<T>,
): Promise<[value: T, warnings: readonly string[]]> {
  const warnings: string[] = [];
  const collect = (...parts: unknown[]) => warnings.push(parts.map(String).join(" "));
  const { warn, error } = console;
  console.warn = collect;
  console.error = collect;
  try {
    return [await work(), warnings];
  } finally {
    console.warn = warn;
    console.error = error;
  }
}
