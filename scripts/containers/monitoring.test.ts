import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createMetrics, type Metrics } from "../../packages/langgraph-server/src/operations/metrics.js";
import { NOTHING_SWEPT } from "../../packages/langgraph-server/src/operations/observer.js";
import { root } from "../workspace-packages.mjs";

const FOLDER = join(root, "platform", "infra", "monitoring");
const textOf = (file: string) => readFileSync(join(FOLDER, file), "utf8");

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string };
}
const rules: readonly Rule[] = parse(textOf("alerts.yml")).groups.flatMap(
  ({ rules }: { readonly rules: readonly Rule[] }) => rules,
);
const panels: readonly { title: string; targets: readonly { expr: string; legendFormat: string }[] }[] =
  JSON.parse(textOf("dashboard.json")).panels;
const expressions = [
  ...rules.map(({ alert, expr }) => ({ where: alert, expr })),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr }))),
];

const NOTHING_RECONCILED = {
  facts: 0,
  adopted: 0,
  charged: 0,
  corrected: 0,
  unresolved: 0,
  writtenOff: 0,
  estimated: 0,
  unclaimed: 0,
  billingFailed: 0,
  awaited: 0,
};

/** Labels that Prometheus itself adds. */
const ADDED = ["instance", "job"];

let metrics: Metrics;
let exported: Map<string, Set<string>>;
beforeAll(async () => {
  metrics = createMetrics();
  everythingHappens(metrics);
  exported = readExported(await metrics.render());
});
afterAll(() => metrics.close());

/** Makes every metric have a sample with its labels. */
function everythingHappens({ observer, ...direct }: Metrics): void {
  const run = {
    runId: "r",
    graphId: "langgraph:chat",
    account: "a",
    traceId: "t",
    attempt: 0,
    traceparent: undefined,
  };
  observer.runStarted({ ...run, runId: "still open" });
  observer.runStarted(run);
  observer.runEnded({ ...run, status: "lost" });
  observer.startRefused("busy");
  observer.appendRefused("fenced");
  observer.subscriberJoined("prelude");
  observer.cronTicked({ outcome: "failed", missed: 1 });
  observer.swept({ ...NOTHING_SWEPT, merged: 1, entries: 1 });
  observer.filesSwept({ unnamed: 1, unfinished: 0, orphaned: 0, stray: 0 });
  observer.badRow({ table: "crons", id: "c", error: new Error("bad") });
  observer.busChanged({ kind: "connected" });
  observer.busMessage("published");
  observer.clockCompared(1);
  observer.billed({ kind: "priced", amount: 1n });
  observer.billed({ kind: "failed", error: new Error("away") });
  observer.billed({ kind: "reconciled", report: { ...NOTHING_RECONCILED, unresolved: 1 } });
  direct.limitMet("maxWatchers");
  direct.strayError(true);
  direct.requestAnswered("GET /health", 200);
}

/** The names of all metrics, with the labels that their samples have. */
function readExported(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = ""] of text.matchAll(/^# TYPE (\w+) /gm)) found.set(name, new Set());
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)\{(.*)\} /gm)) {
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) found.get(name)?.add(label);
  }
  return found;
}

const metricsIn = (expr: string) => [...expr.matchAll(/\b((?:throughline|process|nodejs)_\w+)(\{[^}]*\})?/g)];

describe("alert rules and dashboard", () => {
  it("ask for metrics that the service really exports", () => {
    const asked = expressions.flatMap(({ where, expr }) =>
      metricsIn(expr).map(([, name = ""]) => ({ where, name })),
    );
    expect(asked.length).toBeGreaterThan(40);
    expect(asked.filter(({ name }) => !exported.has(name))).toEqual([]);
  });

  it("select by labels that those metrics have", () => {
    const wrong = expressions.flatMap(({ where, expr }) =>
      metricsIn(expr).flatMap(([, name = "", selector = ""]) =>
        [...selector.matchAll(/(\w+)\s*[=!]~?/g)]
          .flatMap(([, label = ""]) => label)
          .filter((label) => !ADDED.includes(label) && !exported.get(name)?.has(label))
          .map((label) => ({ where, name, label })),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it("sum by labels, and show labels, that those metrics have", () => {
    const texts = [
      ...expressions.map(({ where, expr }) => {
        const labels = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/,\s*/));
        return { where, expr, labels };
      }),
      ...rules.map(({ alert, expr, annotations }) => ({
        where: alert,
        expr,
        labels: shown(annotations.summary),
      })),
    ];
    const wrong = texts.flatMap(({ where, expr, labels }) => {
      const known = new Set([
        ...ADDED,
        ...metricsIn(expr).flatMap(([, name = ""]) => [...(exported.get(name) ?? [])]),
      ]);
      return labels.filter((label) => !known.has(label)).map((label) => ({ where, label }));
    });
    expect(wrong).toEqual([]);
  });

  it("leave no metric of ours unshown", () => {
    const asked = new Set(expressions.flatMap(({ expr }) => metricsIn(expr).map(([, name]) => name)));
    const ours = [...exported.keys()].filter((name) => name.startsWith("throughline_"));
    // Part of starts_refused_total.
    expect(ours.filter((name) => !asked.has(name))).toEqual(["throughline_busy_total"]);
  });

  it("say of each alert how grave it is and what happened, under a name of its own", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { labels, annotations } of rules) {
      expect(["critical", "warning", "info"]).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\.$/);
    }
  });
});

const shown = (summary: string) => [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = ""]) => label);

/** The cells of the first table below a heading, row by row, without their backticks. */
function tableUnder(heading: string): readonly (readonly string[])[] {
  const [, section = ""] = readFileSync(join(root, "docs", "operations.md"), "utf8").split(
    `\n## ${heading}\n`,
  );
  const lines = section.slice(section.indexOf("\n|") + 1).split("\n");
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(2, end).map((line) =>
    line
      .split("|")
      .slice(1)
      .map((cell) => cell.trim()),
  );
}

const quoted = (text: string) => [...text.matchAll(/`(\w+)`/g)].map(([, word = ""]) => word);
const nameOf = (row: readonly string[]) => quoted(row[0] ?? "")[0] ?? "";

describe("docs/operations.md", () => {
  it("lists every metric of ours, with its labels, and no other", () => {
    const listed = tableUnder("Metrics").map((row) => [
      `throughline_${nameOf(row)}`,
      quoted(row[1] ?? "").toSorted(),
    ]);
    const ours = [...exported].flatMap(([name, labels]) =>
      name.startsWith("throughline_")
        ? [[name, [...labels].filter((label) => label !== "service").toSorted()]]
        : [],
    );
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(ours));
  });

  it("lists every alert with the metrics, threshold, times and severity of its rule", () => {
    const rows = tableUnder("Alerts");
    expect(rows.map(nameOf).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
    for (const row of rows) {
      const [, when = "", severity] = row;
      const rule = rules.find(({ alert }) => alert === nameOf(row));
      const expr = rule?.expr ?? "";
      expect(severity, nameOf(row)).toBe(rule?.labels.severity);
      const known = quoted(when).filter((word) => exported.has(`throughline_${word}`));
      const asked = metricsIn(expr).map(([, name = ""]) => name.replace("throughline_", ""));
      expect(new Set(known), nameOf(row)).toEqual(new Set(asked));
      for (const value of quoted(when).filter((word) => !known.includes(word)))
        expect(expr, nameOf(row)).toContain(value);
      const [, bound, percent] = /> ([\d.]+)( %)?/.exec(when) ?? [];
      if (bound !== undefined) expect(expr).toContain(`> ${percent ? Number(bound) / 100 : bound}`);
      const lasts = / for (\d+) min/.exec(when)?.[1];
      expect(lasts && `${lasts}m`, nameOf(row)).toBe(rule?.for);
      const [, span, unit] = / in (\d+) (min|h)/.exec(when) ?? [];
      if (span !== undefined) expect(expr).toContain(`[${span}${unit === "h" ? "h" : "m"}]`);
    }
  });
});
