import { describe, expect, it, vi } from "vitest";
import { filterLog, type LogLine } from "./log-filter";

const LINES: readonly LogLine[] = [
  { type: "run_start", text: '{"who":"Ada"}' },
  { type: "llm_token", text: '{"text":"ada wrote"}' },
  { type: "llm_token", text: '{"text":"a poem"}' },
  { type: "run_end", text: '{"status":"success"}' },
];

function log(count: number, generation = 0) {
  return { generation, count, lineAt: vi.fn((index: number) => LINES[index]) };
}

describe("a filtered log", () => {
  it("keeps one type", () => {
    expect(filterLog(undefined, { type: "llm_token", search: "" }, log(4)).indices).toEqual([1, 2]);
  });

  it("finds a part of the JSON in whatever case", () => {
    expect(filterLog(undefined, { type: undefined, search: " ADA " }, log(4)).indices).toEqual([0, 1]);
  });

  it("looks only at what is new", () => {
    const filter = { type: undefined, search: "a" };
    const before = filterLog(undefined, filter, log(3));
    const more = log(4);
    const after = filterLog(before, filter, more);
    expect(more.lineAt.mock.calls).toEqual([[3]]);
    expect(after.indices).toEqual(filterLog(undefined, filter, log(4)).indices);
  });

  it("is the very same while nothing comes", () => {
    const filter = { type: "run_end", search: "" };
    const before = filterLog(undefined, filter, log(4));
    expect(filterLog(before, { ...filter }, log(4))).toBe(before);
  });

  it("begins anew with another filter or another log", () => {
    const before = filterLog(undefined, { type: "run_start", search: "" }, log(4));
    expect(filterLog(before, { type: "run_end", search: "" }, log(4)).indices).toEqual([3]);
    expect(filterLog(before, before.filter, log(1, 1)).indices).toEqual([0]);
  });
});
