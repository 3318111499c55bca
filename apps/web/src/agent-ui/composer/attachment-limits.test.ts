import { describe, expect, it } from "vitest";
import { checkFile } from "./attachment-limits";

const file = (name: string, type: string, size = 10) => ({ name, type, size });

describe("checkFile", () => {
  it.each([
    [file("a.png", "image/png", 10 * 1_048_576), { kind: "image", mimeType: "image/png" }],
    [file("a.m4a", "audio/x-m4a"), { kind: "audio", mimeType: "audio/x-m4a" }],
    [file("a.png", "image/png"), { kind: "image", mimeType: "image/png" }],
    [file("a.txt", "text/plain;charset=utf-8"), { kind: "document", mimeType: "text/plain" }],
    [file("README.MD", ""), { kind: "document", mimeType: "text/markdown" }],
  ])("takes %j", (given, checked) => {
    expect(checkFile(given)).toEqual(checked);
  });

  it.each([
    [file("a.exe", "application/x-msdownload"), "can't be attached"],
    [file("a.svg", "image/svg+xml"), "can't be attached"],
    [file("noending", ""), "can't be attached"],
    [file("a.png", "image/png", 10 * 1_048_576 + 1), "at most 10 MB for a picture"],
    [file("a.txt", "text/plain", 0), "empty"],
  ])("refuses %j and says why", (given, words) => {
    expect(checkFile(given).problem).toContain(words);
  });
});
