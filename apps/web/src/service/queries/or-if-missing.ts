import { ServiceError } from "../ask-service";

/** The answer, or what stands for it where the service has no such thing: a thread exists from its first message on. */
export async function orIfMissing<T, Else>(answer: Promise<T>, otherwise: Else): Promise<T | Else> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ServiceError && error.code === "not_found") return otherwise;
    throw error;
  }
}
