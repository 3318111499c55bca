/** "1 question waits", "3 questions wait". */
export function waitingText(count: number): string {
  return count === 1 ? "1 question waits" : `${count} questions wait`;
}
