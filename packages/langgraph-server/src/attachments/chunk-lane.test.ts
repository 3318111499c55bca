import { createSimulatedClock } from "@throughline/ai-core";
import { expect, it, vi } from "vitest";
import { createChunkLane } from "./blobs.js";

it("Chunks go one at a time, in order, and rest for as long as each took, also after one that failed", async () => {
  const clock = createSimulatedClock(0);
  const lane = createChunkLane({ clock });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const send = (name: string, error?: Error) =>
    lane(async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      if (error) throw error;
      return name;
    });
  const first = send("first");
  const second = send("second", new Error("away"));
  const third = send("third");
  await vi.waitFor(() => expect(begun).toEqual(["first"]));
  clock.advance(20);
  ends.get("first")?.();
  expect(await first).toBe("first");
  clock.advance(19);
  expect(begun).toEqual(["first"]);
  clock.advance(1);
  await vi.waitFor(() => expect(begun).toEqual(["first", "second"]));
  ends.get("second")?.();
  await expect(second).rejects.toThrow("away");
  // It took no time, so nothing rests.
  await vi.waitFor(() => expect(begun).toEqual(["first", "second", "third"]));
  ends.get("third")?.();
  expect(await third).toBe("third");
});
