import { readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Runs the files with a process of their own first, and the others grouped by their environment: vitest keeps a shared
 * process only while the next file in line fits it.
 */
export class TestOrder extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications);
    const groups = new Map(sorted.map((specification) => [specification, groupOf(specification)]));
    return sorted.toSorted((a, b) => (groups.get(a) ?? 0) - (groups.get(b) ?? 0));
  }
}

function groupOf({ project, moduleId }: TestSpecification): number {
  if (project.config.isolate) return 0;
  return readFileSync(moduleId, "utf8").includes("@vitest-environment ") ? 2 : 1;
}
