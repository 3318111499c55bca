import { expect, it } from "vitest";
import { isNotHired } from "./not-hired";

const refused = { command: "cycle", outcome: "refused", code: "not_hired", note: "Not hired yet." };
const done = { command: "hire", outcome: "done", note: "Hired." };

it("An agent is not hired when it refused its last command for that, and no longer once it is", () => {
  expect(isNotHired({ log: [done, refused] })).toBe(true);
  expect(isNotHired({ log: [refused, done] })).toBe(false);
  expect([{}, { log: "words" }, { log: [] }, { log: [null] }].map(isNotHired)).toEqual(Array(4).fill(false));
});
