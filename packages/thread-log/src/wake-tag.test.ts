import { expect, it } from "vitest";
import { newThread } from "./conformance/log-scene.js";
import { threadTag } from "./thread-ref.js";

it("gives threads tags of eight characters, the same each time and hardly ever shared", () => {
  const threads = Array.from({ length: 20_000 }, (_, i) =>
    newThread("one-account", i % 2 ? "ann" : undefined),
  );
  const tags = threads.map(threadTag);
  expect(new Set(tags).size).toBeGreaterThan(19_990);
  expect(tags.every((tag) => /^[A-Za-z0-9_-]{8}$/.test(tag))).toBe(true);
  expect(threads.map((thread) => threadTag({ ...thread }))).toEqual(tags);
});
