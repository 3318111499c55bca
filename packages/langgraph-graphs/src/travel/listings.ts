import type { Experience, Flight, Hotel } from "./travel-state.js";

const KLM: Flight = {
  airline: "KLM",
  departure: "Amsterdam (AMS)",
  arrival: "San Francisco (SFO)",
  price: "$650",
  duration: "11h 30m",
};
const UNITED: Flight = {
  airline: "United",
  departure: "Amsterdam (AMS)",
  arrival: "San Francisco (SFO)",
  price: "$720",
  duration: "12h 15m",
};
export const FLIGHTS: readonly Flight[] = [KLM, UNITED];
export const RECOMMENDED_FLIGHT = KLM;

const ZEPHYR: Hotel = {
  name: "Hotel Zephyr",
  location: "Fisherman's Wharf",
  price_per_night: "$280/night",
  rating: "4.2 stars",
};
const RITZ: Hotel = {
  name: "The Ritz-Carlton",
  location: "Nob Hill",
  price_per_night: "$550/night",
  rating: "4.8 stars",
};
const ZOE: Hotel = {
  name: "Hotel Zoe",
  location: "Union Square",
  price_per_night: "$320/night",
  rating: "4.4 stars",
};
export const HOTELS: readonly Hotel[] = [ZEPHYR, RITZ, ZOE];
export const RECOMMENDED_HOTEL = ZOE;

export const EXPERIENCES: readonly Experience[] = [
  {
    name: "Pier 39",
    kind: "activity",
    location: "Fisherman's Wharf",
    description: "sea lions, street music and a view of Alcatraz",
  },
  {
    name: "Boudin Bakery",
    kind: "restaurant",
    location: "Fisherman's Wharf",
    description: "clam chowder in a sourdough bowl",
  },
  {
    name: "Cable Car Museum",
    kind: "activity",
    location: "Nob Hill",
    description: "the engine house that still pulls every cable car in the city",
  },
  {
    name: "Swan Oyster Depot",
    kind: "restaurant",
    location: "Nob Hill",
    description: "a marble counter, eighteen stools and very fresh oysters",
  },
  {
    name: "SFMOMA",
    kind: "activity",
    location: "Union Square",
    description: "seven floors of modern art a short walk from the square",
  },
  {
    name: "Sears Fine Food",
    kind: "restaurant",
    location: "Union Square",
    description: "little Swedish pancakes, served since 1938",
  },
  {
    name: "Golden Gate Bridge",
    kind: "activity",
    location: "Presidio",
    description: "walk it in the morning, before the fog lifts",
  },
  {
    name: "Zuni Café",
    kind: "restaurant",
    location: "Hayes Valley",
    description: "roast chicken for two, worth the hour it takes",
  },
];
/** Finds the option that a person chose: by the object, its name, its index in the list, or JSON of any of these. */
export function matchOption<Option extends object>(
  options: readonly Option[],
  nameOf: (option: Option) => string,
  answer: unknown,
): Option | undefined {
  if (typeof answer === "number") return options[answer];
  if (typeof answer === "string") {
    const named = options.find((option) => sameName(nameOf(option), answer));
    return named ?? matchJson(options, nameOf, answer);
  }
  if (typeof answer !== "object" || answer === null) return undefined;
  return options.find((option) => isSameOption(option, nameOf(option), answer));
}

function matchJson<Option extends object>(
  options: readonly Option[],
  nameOf: (option: Option) => string,
  text: string,
): Option | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  // A string inside a string is a name that was encoded once too often; unwrap it once, not for ever.
  if (typeof parsed === "string") return options.find((option) => sameName(nameOf(option), String(parsed)));
  return matchOption(options, nameOf, parsed);
}

/**
 * A client may send fewer fields than it was offered, but none that differ: an answer with a price of its own must not
 * pass for the option. The result is our option either way.
 */
function isSameOption(option: object, name: string, answer: object): boolean {
  const offered = new Map<string, unknown>(Object.entries(option));
  const given = Object.entries(answer);
  return (
    given.some(([, value]) => typeof value === "string" && sameName(value, name)) &&
    given.every(([field, value]) => offered.get(field) === value)
  );
}

function sameName(left: string, right: string): boolean {
  return left.trim().toLowerCase() === right.trim().toLowerCase();
}

/** Everything the listings name, and how people spell the two ends of the route. */
const KNOWN = [
  "sf, bay area, california, netherlands",
  ...[...FLIGHTS, ...HOTELS, ...EXPERIENCES].flatMap((listed) => Object.values(listed)),
]
  .join("\n")
  .toLowerCase();

const NAME = String.raw`\p{Lu}[\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*)*`;
/** "to Tokyo", "from New York"; in any other spelling only as a pair. */
const NAMED = new RegExp(String.raw`\b(?:from|to|via) (${NAME})`, "gu");
const PAIR = /\bfrom ([\p{L} '’-]{2,30}?) to ([\p{L}'’-]{2,30})/giu;
const ARROW = new RegExp(`(${NAME}) ?(?:→|->|=>|–|—) ?(${NAME})`, "gu");

/** Places that a request names as ends of a trip and the listings do not know, as they were written. */
export function otherPlaces(request: string): readonly string[] {
  const found = [NAMED, PAIR, ARROW].flatMap((pattern) =>
    [...request.matchAll(pattern)].flatMap(([, ...names]) => names),
  );
  const unknown = new Map(found.map((name) => [name.toLowerCase(), name]));
  const isPart = (name: string) => [...unknown.keys()].some((other) => other.startsWith(`${name} `));
  return [...unknown].flatMap(([key, name]) => (KNOWN.includes(key) || isPart(key) ? [] : [name]));
}
