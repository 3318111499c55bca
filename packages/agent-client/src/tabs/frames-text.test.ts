import fc from "fast-check";
import { expect, it } from "vitest";
import { readFramesMessage, writeFrames } from "./tab-channel.js";

const texts = fc.array(
  fc.record({
    // As the event parser gives them: an id without NUL, or none.
    id: fc.option(
      fc.string({ minLength: 1, unit: "grapheme" }).filter((id) => !id.includes("\0")),
      { nil: undefined },
    ),
    data: fc.json(),
  }),
);

it("frames that are told come back as they were, whatever they hold", () => {
  fc.assert(
    fc.property(fc.nat(), fc.json(), fc.nat(), texts, (epoch, key, seq, told) => {
      const message = { kind: "frames", epoch, key, seq, texts: told } as const;
      expect(readFramesMessage(writeFrames(message))).toEqual(message);
    }),
  );
});
