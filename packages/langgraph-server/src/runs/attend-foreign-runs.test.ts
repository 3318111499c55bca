import type { ExternalRunListener, ExternalRunName, ExternalRunsPort } from "@throughline/ai-core";
import { emptyThreadProjection } from "@throughline/reading";
import { describe, expect, it, vi } from "vitest";
import { threadAddress } from "../threads/thread-address.js";
import { type AttendOptions, followExternalRuns } from "./external-runs.js";

const thread = threadAddress({ billingAccountId: "acme" }, "poet", "verses");
const { threadId } = thread.ref;
const run: ExternalRunName = { threadId, upstreamRunId: "r1" };

function scene(options: Partial<AttendOptions> = {}) {
  let listener: ExternalRunListener | undefined;
  const active: ExternalRunName[] = [];
  const watched = new Set<string>();
  const foreignRuns: ExternalRunsPort = {
    active: async () => [...active],
    follow: () => expect.fail("The driver follows."),
    watch(given) {
      listener = given;
      return {
        watch(id) {
          watched.add(id);
          return () => void watched.delete(id);
        },
        close: () => watched.clear(),
      };
    },
  };
  const adopt = vi.fn<AttendOptions["adopt"]>(async () => {});
  const reconcile = vi.fn<AttendOptions["reconcile"]>(async () => true);
  const failed = vi.fn();
  const attendant = followExternalRuns({ foreignRuns, adopt, reconcile, observer: { failed }, ...options });
  return { attendant, active, watched, adopt, reconcile, failed, see: () => listener?.onRun(run) };
}

describe("Threads that somebody watches here", () => {
  it("are looked after for as long as they are watched", () => {
    const { attendant, watched, adopt, see } = scene();
    const leave = attendant.attend(thread);
    expect([...watched]).toEqual([threadId]);
    leave();
    expect([...watched]).toEqual([]);
    see();
    expect(adopt).not.toHaveBeenCalled();
  });

  it("have a run adopted once, however often it is seen", async () => {
    const { attendant, adopt, see } = scene();
    attendant.attend(thread);
    for (let looks = 0; looks < 3; looks++) see();
    await vi.waitFor(() => expect(adopt.mock.calls).toEqual([[thread, run]]));
  });

  it("have a run that could not be adopted tried again when it is seen again", async () => {
    const adopt = vi.fn(async () => {});
    adopt.mockRejectedValueOnce(new Error("The database is away."));
    const { attendant, failed, see } = scene({ adopt });
    attendant.attend(thread);
    see();
    await vi.waitFor(() => expect(failed).toHaveBeenCalledOnce());
    see();
    await vi.waitFor(() => expect(adopt).toHaveBeenCalledTimes(2));
    expect(failed).toHaveBeenCalledOnce();
  });

  it("are settled when nothing runs in them, and not while an outsider's run does", async () => {
    const { attendant, active, adopt, reconcile } = scene();
    expect(await attendant.reconcile(thread, emptyThreadProjection)).toBe(true);
    expect(reconcile).toHaveBeenCalledOnce();
    active.push(run);
    expect(await attendant.reconcile(thread, emptyThreadProjection)).toBe(true);
    expect(reconcile).toHaveBeenCalledOnce();
    expect(adopt).toHaveBeenCalledWith(thread, run);
  });

  it("are not settled for the sake of a run that began while they were compared with their checkpoint", async () => {
    const began: AttendOptions["reconcile"] = async (_thread, _fold, isRunning) => {
      active.push(run);
      return !(await isRunning());
    };
    const { attendant, active, adopt } = scene({ reconcile: began });
    expect(await attendant.reconcile(thread, emptyThreadProjection)).toBe(true);
    expect(adopt).toHaveBeenCalledWith(thread, run);
  });
});
