import fc from "fast-check";
import { it } from "vitest";
import { storeModel } from "../conformance/model/run-store-model.js";
import { openPostgresModelSubject } from "../testing/postgres-model-subject.js";

const CASES = Number(process.env.THROUGHLINE_MODEL_CASES ?? 100);
const PATH = process.env.THROUGHLINE_MODEL_PATH;

it(
  `whatever several instances do at once, and whatever answers are lost, is what the reference does in some order, in ${CASES} cases`,
  async () => {
    const subject = await openPostgresModelSubject();
    try {
      await fc.assert(storeModel(subject), {
        numRuns: CASES,
        endOnFailure: true,
        ...(PATH === undefined ? {} : { path: PATH }),
      });
    } finally {
      await subject.close();
    }
  },
  CASES * 2_000 + 30_000,
);
