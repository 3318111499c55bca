import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isServerInUse, joinServer, remoteUsers } from "./host-claim.js";
import { inspectProcess } from "./postmaster.js";
import { makeTempFolder, type TempFolder } from "./testing/temp-folder.js";

describe("the users of a server", () => {
  let folder: TempFolder;
  beforeEach(() => {
    folder = makeTempFolder();
  });
  afterEach(() => folder.remove());

  it("are there until they leave or die, those of another host are none of ours and are left alone", () => {
    const host = Buffer.from(JSON.stringify({ name: "elsewhere", space: "another" })).toString("base64url");
    const foreign = `${process.pid}-abc@${host}`;
    writeFileSync(join(folder.path, foreign), "1");
    writeFileSync(join(folder.path, "4194304-abc"), "1");
    const us = joinServer(folder.path, () => {});
    expect(isServerInUse(folder.path)).toBe(true);
    us.leave();
    expect(isServerInUse(folder.path)).toBe(false);
    expect(readdirSync(folder.path)).toEqual([foreign]);
    expect(remoteUsers(folder.path)).toMatchObject([{ hostName: "elsewhere" }]);
  });

  it("can be read by a version that knows of no hosts: by the pid in the name, and the start in the file", () => {
    const us = joinServer(folder.path, () => {});
    const [name = ""] = readdirSync(folder.path);
    expect(Number.parseInt(name, 10)).toBe(process.pid);
    expect(readFileSync(join(folder.path, name), "utf8")).toBe(inspectProcess(process.pid)?.started);
    us.leave();
  });
});
