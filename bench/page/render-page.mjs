import { COMPARISONS } from "./comparisons.mjs";
import { loadSection } from "./load-section.mjs";
import { numbersSection, targetRows } from "./report-tables.mjs";
import { barChart } from "./svg.mjs";
import { shown, table } from "./table.mjs";

const IMAGES = "images";

/**
 * The page of all benches, from their reports alone: the same reports make the same page.
 *
 * @param {{ reports: Readonly<Record<string, object>>, versions: Readonly<Record<string, string>> }} measured
 * @returns {{ markdown: string, images: ReadonlyMap<string, string> }} images by file name
 */
export function renderPage({ reports, versions }) {
  const held = COMPARISONS.map((comparison) => resolve(comparison, reports[comparison.bench])).filter(
    (comparison) => comparison !== undefined,
  );
  const load = loadSection(reports);
  const benches = Object.values(reports).filter(({ targets }) => targets !== undefined);
  const images = new Map([
    ...held.map((comparison) => [imageOf(comparison), barChart(comparison)]),
    ...load.images,
  ]);
  const lines = [
    "# Benchmarks",
    "",
    "Written by `npm run bench -- all`. Each number is from the run that is named beside it, on the machine below; ratios between",
    "sides that were measured in turn travel to other machines, absolute numbers do not. What each bench does is in [`bench/`](../bench).",
    "",
    ...machineLines(reports, versions),
    "## Where we lose",
    "",
    ...losses(held, benches, load.losses),
    "## Beside peers",
    "",
    "Ours is blue.",
    "",
    ...held.flatMap((comparison) => [`![${comparison.title}](${IMAGES}/${imageOf(comparison)})`, ""]),
    ...table(
      ["what", "ours", "peers", "better is"],
      held.map(({ title, bars, better }) => [
        title,
        bars[0].shown,
        bars
          .slice(1)
          .map(({ label, shown: value }) => `${label} ${value}`)
          .join("; "),
        better,
      ]),
    ),
    ...load.lines,
    "## Targets",
    "",
    ...table(["bench", "target", "measured", "bound", "met"], benches.flatMap(targetRows)),
    "## All numbers",
    "",
    ...benches.flatMap(numbersSection),
  ];
  return { markdown: `${lines.join("\n").trimEnd()}\n`, images };
}

const imageOf = ({ name }) => `bench-${name}.svg`;

function resolve({ ours, peers, ...comparison }, report) {
  const own = report?.ours?.[ours[0]]?.[ours[1]];
  if (typeof own !== "number") return undefined;
  const others = Object.entries(peers)
    .map(([label, [group, name]]) => ({ label, value: report.peer?.[group]?.[name] }))
    .filter(({ value }) => typeof value === "number");
  if (others.length === 0) return undefined;
  const bar = (label, value, isOurs) => ({ label, value, shown: shown(value), isOurs });
  return {
    ...comparison,
    bars: [bar("Throughline", own, true), ...others.map(({ label, value }) => bar(label, value, false))],
  };
}

function losses(held, benches, underLoad) {
  const behind = held.flatMap(({ title, better, bars: [own, ...others] }) => {
    const ahead = others.filter(({ value }) => (better === "lower" ? value < own.value : value > own.value));
    if (ahead.length === 0) return [];
    return [
      `- ${title}: ${own.shown}; ${ahead.map(({ label, shown: value }) => `${label} ${value}`).join(", ")}.`,
    ];
  });
  const missed = benches.flatMap(({ name, targets }) =>
    targets
      .filter(({ met }) => !met)
      .map(
        ({ name: target, value, target: bound }) => `- ${name}: ${target}: ${shown(value)}, wanted ${bound}.`,
      ),
  );
  const part = (title, all) => [
    title,
    "",
    ...(all.length > 0 ? all : ["- Nothing in this measurement."]),
    "",
  ];
  return [
    ...part("A peer does better:", [...behind, ...underLoad]),
    ...part("A target of our own is missed:", missed),
  ];
}

function machineLines(reports, versions) {
  const rows = Object.entries(reports).map(([name, { machine, measured }]) => [
    name,
    measured?.at ?? "unknown",
    measured?.load ?? "unknown",
    measured?.quick ? "quick" : "full",
    machine
      ? `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGB} GB, Node ${machine.node}`
      : "unknown",
  ]);
  return [
    "## Where and when",
    "",
    ...table(["bench", "measured", "load average before, after", "kind", "machine"], rows),
    ...table(["package", "version"], Object.entries(versions)),
  ];
}
