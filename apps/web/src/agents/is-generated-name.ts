/** Whether a client made a thread's name up (a UUID): then it says nothing to a person. */
export function isGeneratedName(threadName: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(threadName);
}
