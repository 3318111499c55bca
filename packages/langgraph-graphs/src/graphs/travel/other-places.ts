import { EXPERIENCES, FLIGHTS, HOTELS } from "./listings.js";

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
