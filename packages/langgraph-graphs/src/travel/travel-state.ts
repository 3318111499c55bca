import { MessagesValue, ReducedValue, StateSchema } from "@langchain/langgraph";
import { z } from "zod";

export const flightSchema = z.object({
  airline: z.string(),
  departure: z.string(),
  arrival: z.string(),
  price: z.string(),
  duration: z.string(),
});
export type Flight = z.infer<typeof flightSchema>;

export const hotelSchema = z.object({
  name: z.string(),
  location: z.string(),
  price_per_night: z.string(),
  rating: z.string(),
});
export type Hotel = z.infer<typeof hotelSchema>;

export const experienceSchema = z.object({
  name: z.string(),
  kind: z.enum(["restaurant", "activity"]),
  location: z.string(),
  description: z.string(),
});
export type Experience = z.infer<typeof experienceSchema>;

export const itinerarySchema = z.object({
  flight: flightSchema.optional(),
  hotel: hotelSchema.optional(),
  experiences: z.array(experienceSchema).optional(),
});
export type Itinerary = z.infer<typeof itinerarySchema>;

/** Merged, so that each agent writes the part it owns and a second plan replaces part by part. */
export const itineraryValue = new ReducedValue(
  itinerarySchema.default(() => ({})),
  { inputSchema: itinerarySchema, reducer: (current, part) => ({ ...current, ...part }) },
);

export const TravelState = new StateSchema({
  messages: MessagesValue,
  origin: z.string().default("Amsterdam"),
  destination: z.string().default("San Francisco"),
  itinerary: itineraryValue,
});
export type TravelStateValue = typeof TravelState.State;

/** The trip itself is not an input: the listings know one route, and an itinerary is only ever chosen, never claimed. */
export const TravelInput = new StateSchema({ messages: MessagesValue });
