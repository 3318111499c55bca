// @ts-check
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow } from "./fingerprint.mjs";

/** What changes a process for every test file that comes after: module mocks, listeners, variables, global providers. */
const CHANGES_ITS_PROCESS =
  /\bvi\.(?:doMock|mock|resetModules)\(|\bprocess\.(?:chdir|umask)\(|\bprocess\.(?:on|once)\(|\bprocess\.env(?:\.\w+|\[[^\]]+\])\s*(?:\?\?|\|\|)?=[^=]|\bdelete process\.env\b|\bsetGlobal\w+\(|\bprocess\.memoryUsage\b/;

/**
 * Whether a test file must have a process of its own. All others share one with many, which saves each of them from
 * loading LangChain, zod and React again. What `vi` stubs or spies on is restored after each file.
 *
 * @param {string} source
 */
export function needsOwnProcess(source) {
  return CHANGES_ITS_PROCESS.test(source);
}

/**
 * The test files below these folders that need a process of their own, relative to `base`.
 *
 * @param {string} base
 * @param {readonly string[]} folders
 */
export function filesWithOwnProcess(base, folders) {
  return folders
    .flatMap((folder) => filesBelow(base, folder))
    .filter((file) => /\.test\.tsx?$/.test(file) && !/\/(?:dist|fixtures)\//.test(file))
    .filter((file) => needsOwnProcess(readFileSync(join(base, file), "utf8")));
}
