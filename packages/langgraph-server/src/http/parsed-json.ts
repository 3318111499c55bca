import type { Json, JsonObject } from "@throughline/ai-core";
import { z } from "zod";

/** What came out of JSON.parse is JSON: checking it again, level by level, would only cost. */
export const parsedJson = z.custom<Json>((value) => value !== undefined, "is missing");

export const parsedObject = z
  .custom<JsonObject>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    "must be an object",
  )
  .meta({ type: "object" });
