import { expect } from "vitest";
import { fenceOf, newThread, notes, take, textsOf, write } from "../conformance/log-scene.js";
import type { ThreadRef } from "../port/thread-ref.js";
import type { BusInstance } from "./bus-fixture.js";

type Instance = Pick<BusInstance, "log">;

/** Writes on one instance, and gives what arrives at another that tails the thread from its beginning. */
export async function followOther(writer: Instance, reader: Instance) {
  const thread = newThread();
  await write(writer.log, thread, ["0"]);
  const tail = reader.log.tail(thread, undefined)[Symbol.asyncIterator]();
  expect(textsOf(await take(tail, 1))).toEqual(["0"]);
  // The next one finds the tail waiting.
  const next = async (text: string) => {
    const arriving = take(tail, 1);
    await append(writer, thread, text);
    const before = performance.now();
    expect(textsOf(await arriving)).toEqual([text]);
    return performance.now() - before;
  };
  return { thread, tail, next };
}

export async function append(
  { log }: Instance,
  thread: ThreadRef,
  ...texts: readonly string[]
): Promise<void> {
  expect(await log.append(thread, notes(thread, ...texts), fenceOf(thread, 1))).toMatchObject({ ok: true });
}
