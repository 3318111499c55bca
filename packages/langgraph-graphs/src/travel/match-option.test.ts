import { describe, expect, it } from "vitest";
import { FLIGHTS, HOTELS, matchOption } from "./listings.js";

const [klm, united] = FLIGHTS;
const matchFlight = (answer: unknown) => matchOption(FLIGHTS, (flight) => flight.airline, answer);

describe("matchOption", () => {
  it.each([
    ["the option itself", { ...united }],
    ["the option as JSON", JSON.stringify(united)],
    ["some of its fields", { airline: "United", price: "$720" }],
    ["its name", "United"],
    ["its name in another case, with spaces", "  uNiTeD "],
    ["its name as JSON", '"United"'],
    ["its place in the list, counted from 0", 1],
    ["its place as text", "1"],
  ])("accepts %s", (_what, answer) => {
    expect(matchFlight(answer)).toBe(united);
  });

  it.each([
    ["a name that was not offered", "Lufthansa"],
    ["an option with a price of its own", { ...klm, price: "$1" }],
    ["an option with a field that was not offered", { ...klm, upgrade: true }],
    ["fields without the name", { price: "$650" }],
    ["a place outside the list", 2],
    ["a negative place", -1],
    ["a place between two options", 0.5],
    ["nothing", undefined],
    ["null", null],
    ["an empty text", ""],
    ["a list", [klm]],
    ["an empty object", {}],
  ])("refuses %s", (_what, answer) => {
    expect(matchFlight(answer)).toBeUndefined();
  });

  it("does not take another field's value for the name", () => {
    expect(matchOption(HOTELS, (hotel) => hotel.name, { name: "Nob Hill" })).toBeUndefined();
  });
});
