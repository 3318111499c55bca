// @ts-check
import { execFileSync } from "node:child_process";

const WITHOUT_GIT = 1;

/**
 * Where every random choice of a test run begins. It is drawn from what is committed: another commit explores other cases,
 * and running the same one again, on any machine, gives the same verdict.
 *
 * @param {string} folder
 */
export function testSeed(folder) {
  try {
    const tree = execFileSync("git", ["rev-parse", "--verify", "HEAD^{tree}"], {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    // Half of 32 bits: some of what is seeded counts on from it.
    return Number.parseInt(tree.slice(0, 8), 16) >>> 1;
  } catch {
    return WITHOUT_GIT;
  }
}
