import { expect, it } from "vitest";
import { formatPrice } from "./model-picker";

it("A model's price is that of a million tokens, and nothing where one half is not known", () => {
  expect(formatPrice({ id: "m", inputPrice: "0.00000015", outputPrice: "0.0000006" })).toBe(
    "$0.15 in, $0.6 out per 1M",
  );
  expect(formatPrice({ id: "m", inputPrice: "0.00000015", outputPrice: null })).toBeUndefined();
});
