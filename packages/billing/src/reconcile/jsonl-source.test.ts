import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { madeFact, madeLabels } from "../testing/made-fact.js";
import { madeUnit } from "../testing/made-unit.js";
import { createJsonlSource, readLogLine } from "./jsonl-source.js";

/** As `throughline_logger.py` wrote it. */
const LINE =
  '{"v": 1, "status": "success", "call_id": "u1", "request_id": "chatcmpl-up-1", "unit_id": "u1", "key_hash": "a4a6", "spend": 1.7e-05, "input_tokens": 11, "output_tokens": 3, "cache_hit": false, "error_code": null, "model_group": "cheap", "ended_at": 1794905242.243768, "labels": {"usageUnitId": "u1"}}';
const lineOf = (callId: string) => `${LINE.replaceAll('"u1"', `"${callId}"`)}\n`;

describe("a line of the logger", () => {
  it("is read with its exact cost", () => {
    const unit = madeUnit({ unitId: "u1", keyHash: "a4a6" });
    expect(readLogLine(LINE)).toEqual(
      madeFact(unit, { requestId: "chatcmpl-up-1", endedAt: 1_794_905_242_244 }),
    );
  });

  it("is read with its labels, if they are of our making", () => {
    const unit = madeUnit();
    const labels = madeLabels(unit);
    const withLabels = (value: unknown) => LINE.replace('{"usageUnitId": "u1"}', JSON.stringify(value));
    expect(readLogLine(withLabels({ ...labels, more: 1 }))?.labels).toEqual(labels);
    expect(readLogLine(withLabels({ runId: "run-1" }))?.labels).toEqual({ runId: "run-1" });
    for (const other of [null, [], "text", { ...labels, runId: "\u0000" }, { ...labels, attempt: "1" }]) {
      expect(readLogLine(withLabels(other))?.labels).toEqual({});
    }
    const unstorable = LINE.replace('"unit_id": "u1"', '"unit_id": "\\u0000"');
    expect(readLogLine(unstorable)).toMatchObject({ callId: "u1", unitId: null });
  });

  it.each([
    "",
    "{}",
    "[1]",
    LINE.slice(0, -5),
    LINE.replace("1.7e-05", "null"),
    LINE.replace('"v": 1', '"v": 2'),
  ])("is none: %s", (line) => {
    expect(readLogLine(line)).toBeUndefined();
  });
});

describe("the logger's file", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "throughline-jsonl-"));
    path = join(folder, "spend.jsonl");
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  let bad = 0;
  async function readFrom(position?: string) {
    bad = 0;
    let last = position;
    const ids: string[] = [];
    for await (const batch of createJsonlSource(path, { onBadLine: () => bad++ }).read(position)) {
      ids.push(...batch.facts.map(({ callId }) => callId));
      last = batch.position;
    }
    return { ids, last };
  }

  it("is read on from where it was left, without its unfinished line", async () => {
    writeFileSync(path, lineOf("a") + lineOf("b") + LINE.slice(0, 40));
    const first = await readFrom();
    expect(first.ids).toEqual(["a", "b"]);
    expect((await readFrom(first.last)).ids).toEqual([]);
    appendFileSync(path, `${LINE.slice(40)}\n${lineOf("c")}`);
    expect((await readFrom(first.last)).ids).toEqual(["u1", "c"]);
  });

  it("is read in parts that end between lines, also within a character", async () => {
    const wide = lineOf("ü".repeat(50));
    writeFileSync(path, wide.repeat(2_000));
    const { ids } = await readFrom();
    expect(ids).toHaveLength(2_000);
    expect(new Set(ids)).toEqual(new Set(["ü".repeat(50)]));
  });

  it("goes on behind a line that can't be read", async () => {
    writeFileSync(path, `${lineOf("a")}half a li\n${lineOf("b")}`);
    expect((await readFrom()).ids).toEqual(["a", "b"]);
    expect(bad).toBe(1);
  });

  it("is read to its end after it was rotated, and then the new one", async () => {
    writeFileSync(path, lineOf("a"));
    const { last } = await readFrom();
    appendFileSync(path, lineOf("b"));
    renameSync(path, `${path}.1`);
    writeFileSync(path, lineOf("c"));
    expect((await readFrom(last)).ids).toEqual(["b", "c"]);
  });

  it("is read from its beginning after it was emptied", async () => {
    writeFileSync(path, lineOf("a") + lineOf("b"));
    const { last } = await readFrom();
    writeFileSync(path, lineOf("c"));
    expect((await readFrom(last)).ids).toEqual(["c"]);
  });

  it("that is not there has no rows, and proves nothing", async () => {
    expect((await readFrom()).ids).toEqual([]);
    expect(await createJsonlSource(path).isComplete()).toBe(false);
    writeFileSync(path, "");
    expect(await createJsonlSource(path).isComplete()).toBe(true);
  });
});
