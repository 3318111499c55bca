/** Calls the function the first time it is called itself, and never again. */
export function once(run: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    run();
  };
}
