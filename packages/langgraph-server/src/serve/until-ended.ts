/** Resolves to the exit code when the server is told to end. Ctrl-C is no failure; a second one exits at once. */
export function untilEnded(signal: AbortSignal): Promise<number> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => {
      process.once("SIGINT", () => process.exit(130));
      resolve(0);
    });
    process.once("SIGTERM", () => resolve(143));
    if (signal.aborted) resolve(143);
    signal.addEventListener("abort", () => resolve(143), { once: true });
  });
}
