import { expect, it } from "vitest";
import { menuPosition } from "./menu";

const room = { width: 360, height: 740 };
const menu = { width: 200, height: 150 };

function opener(left: number, top: number) {
  return { left, top, right: left + 32, bottom: top + 32 };
}

it("is below what opened it and begins where that begins", () => {
  expect(menuPosition(opener(40, 100), menu, room)).toEqual({ left: 40, top: 136 });
});

it("ends where its opener ends when there is no room to the right", () => {
  expect(menuPosition(opener(320, 100), menu, room)).toEqual({ left: 152, top: 136 });
});

it("is above its opener at the bottom of the window", () => {
  expect(menuPosition(opener(40, 700), menu, room)).toEqual({ left: 40, top: 546 });
});

it("stays within the window, however small that is", () => {
  const { left, top } = menuPosition(opener(10, 60), menu, { width: 210, height: 160 });
  expect(left).toBe(8);
  expect(top).toBe(8);
});
