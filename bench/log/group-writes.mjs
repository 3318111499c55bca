/**
 * The least that gives a floor as many rows per transaction as ours: write at once if nothing is in flight, else with the next.
 *
 * @param {(rows: readonly { thread: number, text: string }[]) => Promise<unknown>} write
 */
export function groupWrites(write) {
  let waiting = [];
  let isWriting = false;

  async function pump() {
    isWriting = true;
    await Promise.resolve();
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      await write(taken);
      for (const { resolve } of taken) resolve();
    }
    isWriting = false;
  }

  return (thread, text) =>
    new Promise((resolve, reject) => {
      waiting.push({ thread, text, resolve });
      if (!isWriting) pump().catch(reject);
    });
}
