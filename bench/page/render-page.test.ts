import { describe, expect, it } from "vitest";
import { renderPage } from "./render-page.mjs";
import { ticksTo } from "./svg.mjs";

const machine = { cpu: "Some CPU", cores: 2, memoryGB: 8, node: "v20.0.0", platform: "linux x64" };
const measured = { at: "2026-01-02 03:04", quick: true, load: "0.1, 0.2" };
const versions = { pg: "8.0.0" };

const client = {
  name: "client",
  machine,
  measured,
  ours: { "µs per token": { "CPU, 200 messages": 5 }, bundle: { "gzip bytes": 60_000 } },
  peer: {
    "0.0.59 µs per token": { "CPU, 200 messages": 150 },
    "0.0.59 bundle": { "gzip bytes": 52_000 },
  },
  targets: [
    { name: "bundle | gzip bytes", value: 60_000, target: "<= 14000", met: false },
    { name: "CPU per token", value: 30, target: ">= 30", met: true },
  ],
};

const lag = { count: 10, p50: 5, p99: 40, max: 90 };
const result = (runs: number, p99: number) => ({
  load: { runs, viewers: 2, seconds: 10 },
  "commit lag ms": { ...lag, p99 },
  "token lag ms": { ...lag, p99: 2 * p99 },
  throughput: { "tokens per second": runs * 40, "share of what was due": 1, "frames per second": runs * 30 },
  lost: { missing: 0, doubled: 0, returns: 0 },
  refused: { 429: 0, failed: 0 },
  "CPU, cores": { service: 0.5, postgres: 0.1, client: 0.1, others: 0 },
  memory: { "service MiB": 200.4 },
  "load average": { before: 0.1, after: 0.2 },
});

const most = {
  name: "load",
  asked: "--runs 10 --find-max",
  machine,
  measured,
  ours: {
    most: { runs: 10, viewers: 2, "runs x viewers": 20, "by token lag": 10 },
    steps: [result(10, 40), result(14, 400)],
    overload: result(20, 900),
    after: result(10, 41),
    capped: { ...result(20, 45), refused: { 429: 33, failed: 0 } },
  },
};

const beside = {
  name: "load",
  asked: "--peer copilotkit",
  machine,
  measured,
  ours: result(10, 40),
  peers: {
    quicker: result(10, 20),
    forgetful: { ...result(10, 10), lost: { missing: 3, doubled: 0, returns: 0 } },
  },
};

describe("the page of all benches", () => {
  const reports = { client, "load-beside": beside, "load-max": most };
  const page = renderPage({ reports, versions });

  it("says where and when each number was measured", () => {
    expect(page.markdown).toMatch(
      /\| client +\| 2026-01-02 03:04 \| 0\.1, 0\.2 +\| quick \| Some CPU, 2 cores/,
    );
    expect(page.markdown).toMatch(/\| pg +\| 8\.0\.0 +\|/);
  });

  it("says where a peer is better and which targets are missed, before anything else", () => {
    const losses = page.markdown.slice(
      page.markdown.indexOf("## Where we lose"),
      page.markdown.indexOf("## Beside peers"),
    );
    expect(losses).toContain("- Client bundle, gzip bytes: 60,000; @ag-ui/client 0.0.59 52,000.");
    expect(losses).toContain("- client: bundle | gzip bytes: 60,000, wanted <= 14000.");
    expect(losses).not.toContain("per token");
    // Of a peer that drops tokens nothing is said: it has less to do.
    expect(losses).toContain("- load-beside, token lag p99, ms: 80; quicker 40.");
  });

  it("has a plot for each comparison that was measured, and none for the others", () => {
    expect([...page.images.keys()].sort()).toEqual([
      "bench-client-bundle.svg",
      "bench-client-token.svg",
      "bench-load-max.svg",
    ]);
    for (const [name, svg] of page.images) {
      expect(page.markdown).toContain(`(images/${name})`);
      expect(svg).toMatch(/^<svg [^>]+>.*<\/svg>\n$/s);
      expect(svg).not.toMatch(/NaN|Infinity|undefined/);
    }
  });

  it("draws bars to scale, ours in a colour of its own", () => {
    const widths = [
      ...(page.images.get("bench-client-token.svg") ?? "").matchAll(/width="([\d.]+)" height="18"/g),
    ];
    expect(widths.map(([, width]) => Number(width))).toEqual([13.7, 410]);
  });

  it("numbers its axes in round steps that reach the largest value", () => {
    expect(ticksTo(2_550)).toEqual([0, 500, 1_000, 1_500, 2_000, 2_500, 3_000]);
    expect(ticksTo(40)).toEqual([0, 10, 20, 30, 40]);
    expect(ticksTo(1)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(ticksTo(7)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("tells the maximum under load, what is beyond it, and how many were refused", () => {
    expect(page.markdown).toContain("**10 runs with 2 viewers each**");
    expect(page.markdown).toMatch(/\| 20, all admitted +\| 5 \/ 900 \/ 90/);
    expect(page.markdown).toMatch(/\| 20, 10 admitted .*\| 33 +\|/);
  });

  it("keeps columns apart where a name holds a bar", () => {
    expect(page.markdown).toContain("bundle \\| gzip bytes");
  });

  it("is the same for the same reports", () => {
    expect(renderPage({ reports, versions })).toEqual(page);
  });
});
