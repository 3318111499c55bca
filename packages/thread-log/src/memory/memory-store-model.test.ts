import fc from "fast-check";
import { it } from "vitest";
import { storeModel } from "../conformance/model/run-store-model.js";
import { createMemoryModelSubject } from "../testing/memory-model-subject.js";

const CASES = Number(process.env.THROUGHLINE_MODEL_CASES ?? 100);

it(
  `the reference keeps what holds of any database, in ${CASES} cases`,
  () => fc.assert(storeModel(createMemoryModelSubject()), { numRuns: CASES, endOnFailure: true }),
  CASES * 500 + 30_000,
);
