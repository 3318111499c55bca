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
