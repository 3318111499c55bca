import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { createHostGroup, type GroupedProcess } from "./host-group.js";
import type { GroupPlace, ToProcess } from "./process-message.js";

function newProcess(pid: number) {
  const told: ToProcess[] = [];
  const one: GroupedProcess = {
    process: { pid },
    isConnected: () => true,
    send: (message) => told.push(message),
  };
  return { one, told };
}

function scene(isWanted = true) {
  const group = createHostGroup({ isWanted, onRefused: vi.fn() });
  onTestFinished(() => group.close());
  const place = (pid: number): GroupPlace | undefined => {
    const { one, told } = newProcess(pid);
    group.heard(one, { kind: "ask_group" });
    const [answer] = told;
    return answer?.kind === "group" ? answer.place : undefined;
  };
  return { group, place };
}

it("gives each process an address of its own, in a folder that only this user may enter", () => {
  const { group, place } = scene();
  const [first, second] = [place(1), place(2)];
  expect(first?.name).toBe(second?.name);
  expect(first?.name).toHaveLength(8);
  expect(first?.address).not.toBe(second?.address);
  const folder = dirname(first?.address ?? "");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  group.close();
  expect(existsSync(folder)).toBe(false);
});

it("tells all that have joined of one that joins, and of one that has left", () => {
  const { group } = scene();
  const [first, second] = [newProcess(1), newProcess(2)];
  group.heard(first.one, { kind: "join_group", address: "a" });
  expect(first.told).toEqual([{ kind: "group_members", addresses: ["a"] }]);
  group.heard(second.one, { kind: "join_group", address: "b" });
  for (const { told } of [first, second])
    expect(told.at(-1)).toEqual({ kind: "group_members", addresses: ["a", "b"] });
  group.left(first.one);
  expect(second.told.at(-1)).toEqual({ kind: "group_members", addresses: ["b"] });
  expect(first.told).toHaveLength(2);
});

it("gives no address where none is wanted", () => {
  expect(scene(false).place(1)).toBeUndefined();
});

it("goes on without sockets where no folder can be made", () => {
  vi.stubEnv("TMPDIR", "/nonexistent");
  onTestFinished(() => void vi.unstubAllEnvs());
  const onRefused = vi.fn();
  const group = createHostGroup({ isWanted: true, onRefused });
  expect(onRefused).toHaveBeenCalledOnce();
  const { one, told } = newProcess(1);
  group.heard(one, { kind: "ask_group" });
  expect(told).toEqual([{ kind: "group", place: undefined }]);
});
