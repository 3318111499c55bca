import { describe, expect, it } from "vitest";
import {
  type Connection,
  type ConnectionEffect,
  type ConnectionInput,
  closedConnection,
  DEFAULT_CONNECTION_POLICY as POLICY,
  type RequestFailure,
  transitionConnection,
} from "./connection-state.js";

/** A line under test: what it is, and what its last step asked for. */
function line(random = 0) {
  let state: Connection = closedConnection;
  let effects: readonly ConnectionEffect[] = [];
  return {
    at(now: number, input: ConnectionInput) {
      [state, effects] = transitionConnection(state, input, { now, random });
      return this;
    },
    get state() {
      return state;
    },
    get effects() {
      return effects;
    },
    get stream() {
      return state.stream ?? -1;
    },
    opened: () => effects.filter(({ kind }) => kind === "open-stream").length,
    timer: (name: "retry" | "watchdog") =>
      effects.findLast((effect) => effect.kind === "timer" && effect.name === name),
  };
}

function live(now = 0) {
  const one = line();
  one.at(now, { kind: "open" });
  return one.at(now, { kind: "opened", stream: one.stream });
}

const network: RequestFailure = { kind: "network" };

function refused(status: number, retryAfterMs?: number): RequestFailure {
  return {
    kind: "refused",
    status,
    code: `code_${status}`,
    message: "No.",
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

describe("opening and closing", () => {
  it("opens one stream however often it is asked to", () => {
    const one = line().at(0, { kind: "open" });
    expect(one.opened()).toBe(1);
    expect(one.state.status).toEqual({ kind: "connecting" });
    expect(one.at(1, { kind: "open" }).opened()).toBe(0);
  });

  it("closes its stream and both timers, and stays closed whatever comes late", () => {
    const one = live();
    const { stream } = one;
    one.at(1, { kind: "close" });
    expect(one.effects).toEqual([
      { kind: "close-stream", stream },
      { kind: "timer", name: "retry", at: undefined },
      { kind: "timer", name: "watchdog", at: undefined },
    ]);
    for (const input of [
      { kind: "ended", stream },
      { kind: "due", timer: "retry" },
      { kind: "due", timer: "watchdog" },
      { kind: "online", isOnline: true },
      { kind: "visible" },
      { kind: "renewed", ok: true },
    ] as const) {
      one.at(60_000, input);
      expect(one.effects).toEqual([]);
      expect(one.state.status).toEqual({ kind: "closed" });
    }
  });

  it("passes over what an old stream says", () => {
    const one = live();
    const old = one.stream;
    one.at(10_000, { kind: "ended", stream: old }).at(10_000, { kind: "due", timer: "retry" });
    const before = one.state;
    for (const input of [
      { kind: "opened", stream: old },
      { kind: "received", stream: old },
      { kind: "ended", stream: old },
      { kind: "failed", stream: old, failure: network },
    ] as const) {
      expect(one.at(10_001, input).state).toBe(before);
      expect(one.effects).toEqual([]);
    }
  });
});

describe("coming back", () => {
  function waits(random: number): number[] {
    const one = line(random).at(0, { kind: "open" });
    return Array.from({ length: 9 }, () => {
      one.at(0, { kind: "failed", stream: one.stream, failure: network });
      const { status } = one.state;
      one.at(0, { kind: "due", timer: "retry" });
      return status.kind === "reconnecting" ? (status.retryAt ?? -1) : -1;
    });
  }

  it("doubles the wait with each failure in a row, up to the cap", () => {
    expect(waits(0)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it("cuts the wait by up to half at random, so that clients of one server do not return together", () => {
    expect(waits(0.999_999)).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  });

  it("waits at least as long as the service asked for", () => {
    const one = line().at(0, { kind: "open" });
    one.at(0, { kind: "failed", stream: one.stream, failure: refused(503, 20_000) });
    expect(one.state.status).toEqual({ kind: "reconnecting", attempt: 1, retryAt: 20_000 });
  });

  it("comes back at once after the clean end of a stream that was healthy", () => {
    const one = live();
    one.at(6_000, { kind: "ended", stream: one.stream });
    expect(one.state.status).toEqual({ kind: "reconnecting", attempt: 0, retryAt: 6_000 });
    expect(one.timer("retry")).toMatchObject({ at: 6_000 });
  });

  it("counts a stream that ends right after it opened as a failure", () => {
    const one = live();
    one.at(100, { kind: "ended", stream: one.stream });
    expect(one.state.status).toEqual({ kind: "reconnecting", attempt: 1, retryAt: 600 });
  });

  it("begins to count anew once a stream has lived for a while", () => {
    const one = line().at(0, { kind: "open" });
    one
      .at(0, { kind: "failed", stream: one.stream, failure: network })
      .at(500, { kind: "due", timer: "retry" });
    one.at(500, { kind: "opened", stream: one.stream });
    expect(one.state.attempt).toBe(1);
    one.at(6_000, { kind: "received", stream: one.stream });
    expect(one.state.attempt).toBe(0);
  });

  it.each([408, 425, 429, 500, 502, 503])("tries again after %i", (status) => {
    const one = line().at(0, { kind: "open" });
    one.at(0, { kind: "failed", stream: one.stream, failure: refused(status) });
    expect(one.state.status.kind).toBe("reconnecting");
  });

  it.each([400, 403, 404, 413])(
    "gives up after %i, and tries once more when it is opened again",
    (status) => {
      const one = line().at(0, { kind: "open" });
      one.at(0, { kind: "failed", stream: one.stream, failure: refused(status) });
      expect(one.state.status).toEqual({ kind: "failed", reason: `code_${status}`, message: "No." });
      expect(one.at(1, { kind: "visible" }).opened()).toBe(0);
      expect(one.at(2, { kind: "open" }).opened()).toBe(1);
    },
  );
});

describe("a person who reconnects", () => {
  it("does not wait for the retry that is due later, and the next wait begins small again", () => {
    const one = line().at(0, { kind: "open" });
    for (const now of [0, 1, 2]) {
      one.at(now, { kind: "failed", stream: one.stream, failure: network });
      one.at(now, { kind: "due", timer: "retry" });
    }
    one.at(3, { kind: "failed", stream: one.stream, failure: network });
    expect(one.at(4, { kind: "reconnect" }).opened()).toBe(1);
    expect(one.timer("retry")).toMatchObject({ at: undefined });
    one.at(5, { kind: "failed", stream: one.stream, failure: network });
    expect(one.state.status).toEqual({ kind: "reconnecting", attempt: 1, retryAt: 5 + POLICY.firstRetryMs });
  });

  it("tries a line that had failed once more, with credentials that may be renewed again", () => {
    const one = line().at(0, { kind: "open" });
    one.at(0, { kind: "failed", stream: one.stream, failure: refused(403) });
    expect(one.at(1, { kind: "reconnect" }).opened()).toBe(1);
    one.at(2, { kind: "failed", stream: one.stream, failure: refused(401) });
    expect(one.effects).toContainEqual({ kind: "renew" });
  });

  it("replaces a stream that is live, and opens none that nobody wants", () => {
    const one = live();
    const { stream } = one;
    one.at(1, { kind: "reconnect" });
    expect(one.effects).toContainEqual({ kind: "close-stream", stream });
    expect(one.opened()).toBe(1);
    expect(line().at(0, { kind: "reconnect" }).opened()).toBe(0);
  });
});

describe("credentials", () => {
  it("are renewed once after 401; refused again, the line has failed", () => {
    const one = line().at(0, { kind: "open" });
    one.at(0, { kind: "failed", stream: one.stream, failure: refused(401) });
    expect(one.effects).toContainEqual({ kind: "renew" });
    expect(one.at(1, { kind: "renewed", ok: true }).opened()).toBe(1);
    one.at(2, { kind: "failed", stream: one.stream, failure: refused(401) });
    expect(one.state.status).toEqual({ kind: "failed", reason: "code_401", message: "No." });
  });

  it("that cannot be renewed end the line", () => {
    const one = line().at(0, { kind: "open" });
    one.at(0, { kind: "failed", stream: one.stream, failure: refused(401) });
    one.at(1, { kind: "renewed", ok: false });
    expect(one.state.status).toEqual({
      kind: "failed",
      reason: "unauthorized",
      message: "Sign in again.",
    });
  });

  it("that last for seconds are renewed each time they end", () => {
    const one = line().at(0, { kind: "open" });
    for (const began of [0, 3_000, 6_000]) {
      one.at(began, { kind: "opened", stream: one.stream });
      one.at(began + 2_999, { kind: "received", stream: one.stream });
      one.at(began + 2_999, { kind: "failed", stream: one.stream, failure: refused(401) });
      expect(one.effects).toContainEqual({ kind: "renew" });
      expect(one.at(began + 3_000, { kind: "renewed", ok: true }).opened()).toBe(1);
    }
  });

  it("may be renewed again once the line was healthy in between", () => {
    const one = line().at(0, { kind: "open" });
    one.at(0, { kind: "failed", stream: one.stream, failure: refused(401) }).at(1, {
      kind: "renewed",
      ok: true,
    });
    one.at(1, { kind: "opened", stream: one.stream }).at(9_000, { kind: "received", stream: one.stream });
    one.at(9_001, { kind: "failed", stream: one.stream, failure: refused(401) });
    expect(one.effects).toContainEqual({ kind: "renew" });
  });

  it("a late answer about them does not end a line that was opened anew in between", () => {
    const one = line().at(0, { kind: "open" });
    one.at(0, { kind: "failed", stream: one.stream, failure: refused(401) });
    one.at(1, { kind: "close" }).at(2, { kind: "open" });
    one.at(3, { kind: "opened", stream: one.stream }).at(4, { kind: "renewed", ok: false });
    expect(one.state.status).toEqual({ kind: "live" });
    expect(one.effects).toEqual([]);
  });
});

describe("offline", () => {
  it("waits for the network instead of for a timer", () => {
    const one = live().at(1, { kind: "online", isOnline: false });
    expect(one.state.status).toEqual({ kind: "live" });
    one.at(2, { kind: "failed", stream: one.stream, failure: network });
    expect(one.state.status).toMatchObject({ kind: "reconnecting", retryAt: undefined });
    expect(one.timer("retry")).toMatchObject({ at: undefined });
    expect(one.at(3, { kind: "visible" }).opened()).toBe(0);
    expect(one.at(4, { kind: "online", isOnline: true }).opened()).toBe(1);
    expect(one.state.attempt).toBe(0);
  });

  it("takes back a retry that was waiting when the network went", () => {
    const one = line().at(0, { kind: "open" });
    one.at(0, { kind: "failed", stream: one.stream, failure: network });
    one.at(1, { kind: "online", isOnline: false });
    expect(one.state.status).toEqual({ kind: "reconnecting", attempt: 1, retryAt: undefined });
    expect(one.timer("retry")).toMatchObject({ at: undefined });
  });
});

describe("silence", () => {
  const { silenceMs, graceMs } = POLICY;

  it("is noticed when its time is over, and the line comes back at once", () => {
    const one = live().at(silenceMs, { kind: "due", timer: "watchdog" });
    expect(one.state.status).toEqual({ kind: "reconnecting", attempt: 0, retryAt: silenceMs });
  });

  it("is noticed of a request that is never answered", () => {
    const one = line().at(0, { kind: "open" });
    expect(one.timer("watchdog")).toMatchObject({ at: silenceMs });
    expect(one.at(silenceMs, { kind: "due", timer: "watchdog" }).state.status.kind).toBe("reconnecting");
  });

  it("arms no timer for each frame, but looks again from the last one", () => {
    const one = live().at(9_000, { kind: "received", stream: 1 });
    expect(one.effects).toEqual([]);
    one.at(silenceMs, { kind: "due", timer: "watchdog" });
    expect(one.effects).toEqual([{ kind: "timer", name: "watchdog", at: 9_000 + silenceMs }]);
    expect(one.state.status).toEqual({ kind: "live" });
  });

  it("is not concluded from the late timers of a hidden tab that goes on hearing", () => {
    const one = live();
    for (let minute = 1; minute <= 10; minute += 1) {
      const now = minute * 60_000;
      one
        .at(now - 2_000, { kind: "received", stream: one.stream })
        .at(now, { kind: "due", timer: "watchdog" });
      expect(one.state.status).toEqual({ kind: "live" });
      expect(one.effects).toEqual([{ kind: "timer", name: "watchdog", at: now - 2_000 + silenceMs }]);
    }
  });

  it("is not concluded from a clock that jumped while the lid was closed: the socket is read first", () => {
    const morning = 8 * 3_600_000;
    const one = live().at(morning, { kind: "due", timer: "watchdog" });
    expect(one.state.status).toEqual({ kind: "live" });
    expect(one.timer("watchdog")).toMatchObject({ at: morning + graceMs });
    one.at(morning + 10, { kind: "received", stream: one.stream });
    expect(one.at(morning + graceMs, { kind: "due", timer: "watchdog" }).state.status).toEqual({
      kind: "live",
    });
  });

  it("after waking, a socket that stays silent is given up after the grace", () => {
    const one = live().at(3_600_000, { kind: "due", timer: "watchdog" });
    one.at(3_600_000 + graceMs, { kind: "due", timer: "watchdog" });
    expect(one.state.status).toEqual({
      kind: "reconnecting",
      attempt: 0,
      retryAt: 3_600_000 + graceMs,
    });
  });

  it("is noticed in the end where every timer is late", () => {
    const one = live().at(60_000, { kind: "due", timer: "watchdog" });
    expect(one.state.status).toEqual({ kind: "live" });
    expect(one.at(120_000, { kind: "due", timer: "watchdog" }).state.status.kind).toBe("reconnecting");
  });

  it("a page that is shown again after silence looks soon, and tries at once if it was waiting", () => {
    const one = live().at(20_000, { kind: "visible" });
    expect(one.effects).toEqual([{ kind: "timer", name: "watchdog", at: 20_000 + graceMs }]);
    expect(
      one.at(20_001, { kind: "received", stream: one.stream }).at(20_002, { kind: "visible" }).effects,
    ).toEqual([]);
    const waiting = line().at(0, { kind: "open" });
    waiting.at(0, { kind: "failed", stream: waiting.stream, failure: network });
    expect(waiting.at(1, { kind: "visible" }).opened()).toBe(1);
  });
});

describe("credentials of somebody else", () => {
  it("are final, and not renewed: the page belongs to another", () => {
    const one = line().at(0, { kind: "open" });
    const failure = { kind: "refused", status: 401, code: "signed_in_as_other", message: "As bob." } as const;
    one.at(1, { kind: "failed", stream: one.stream, failure });
    expect(one.effects).not.toContainEqual({ kind: "renew" });
    expect(one.state.status).toEqual({ kind: "failed", reason: "signed_in_as_other", message: "As bob." });
  });
});

describe("a stream that carries something else", () => {
  it("takes the place of a live one, which is shown as live for as long as that takes", () => {
    const one = live().at(10, { kind: "replace" });
    expect(one.effects).toContainEqual({ kind: "close-stream", stream: 1 });
    expect(one.effects).toContainEqual({ kind: "open-stream", stream: 2 });
    expect(one.state.status).toEqual({ kind: "live" });
    one.at(30, { kind: "opened", stream: 2 }).at(1_010, { kind: "due", timer: "watchdog" });
    expect(one.state.status).toEqual({ kind: "live" });
  });

  it("is not shown as live when it is not accepted within a second, and is given up after the usual silence", () => {
    const one = live().at(10, { kind: "replace" });
    expect(one.timer("watchdog")).toMatchObject({ at: 1_010 });
    one.at(1_010, { kind: "due", timer: "watchdog" });
    expect(one.state.status).toEqual({ kind: "connecting" });
    expect(one.timer("watchdog")).toMatchObject({ at: 10 + POLICY.silenceMs });
    one.at(10 + POLICY.silenceMs, { kind: "due", timer: "watchdog" });
    expect(one.state.status).toMatchObject({ kind: "reconnecting" });
  });

  it("is opened at once where the one before it waits to be tried again", () => {
    const one = line().at(0, { kind: "open" });
    one.at(0, { kind: "failed", stream: one.stream, failure: network });
    expect(one.at(1, { kind: "replace" }).opened()).toBe(1);
    expect(one.state.status).toEqual({ kind: "connecting" });
  });
});
