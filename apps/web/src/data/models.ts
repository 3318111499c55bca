import * as z from "zod/mini";
import { keys, type Resource, useResource } from "./query";
import { askService } from "./request";

export const modelSchema = z.object({
  id: z.string(),
  /** US dollars per token as an exact decimal; `null`: not known. */
  inputPrice: z.nullable(z.string()),
  outputPrice: z.nullable(z.string()),
});
const modelsSchema = z.object({ models: z.array(modelSchema) });

/** A model that the caller may use. */
export type Model = Readonly<z.output<typeof modelSchema>>;

const FRESH_MS = 60_000;

export function useModels(): Resource<readonly Model[]> {
  return useResource({
    queryKey: keys.models,
    queryFn: async ({ signal }): Promise<readonly Model[]> =>
      (await askService("/models", modelsSchema, { signal })).models,
    staleTime: FRESH_MS,
  });
}
