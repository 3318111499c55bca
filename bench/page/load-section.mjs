import { lineChart } from "./svg.mjs";
import { shown, table } from "./table.mjs";

const LEAST_SECONDS_OF_SLOPE = 600;

/**
 * What `npm run load -- --save NAME` kept, told as a whole: how far one machine goes, half an hour of it, and what one graph or
 * one process does to the others.
 *
 * @param {Readonly<Record<string, object>>} reports
 */
export function loadSection(reports) {
  const saved = Object.entries(reports).filter(([file]) => file.startsWith("load-"));
  const images = new Map();
  const lines = saved.flatMap(([file, report]) => {
    const { steps, samples } = report.ours;
    if (steps) images.set(`bench-${file}.svg`, maxChart(file, steps));
    if (samples?.length > 100) images.set(`bench-${file}.svg`, memoryChart(file, samples));
    return [
      `### ${file}`,
      "",
      `\`npm run load -- ${report.asked}\``,
      "",
      ...(images.has(`bench-${file}.svg`) ? [`![${file}](images/bench-${file}.svg)`, ""] : []),
      ...(steps ? stepTable(report.ours) : resultTable(report)),
    ];
  });
  return {
    images,
    lines: lines.length > 0 ? ["## Under load", "", ...lines] : [],
    losses: saved.flatMap(([file, report]) => lossesOf(file, report)),
  };
}

/** What is held against a peer under the same load; less is better. */
const HELD = {
  "token lag p50, ms": (result) => result["token lag ms"]?.p50,
  "token lag p99, ms": (result) => result["token lag ms"]?.p99,
  "tokens missed": ({ lost }) => lost.missing,
  "cores of service and PostgreSQL": ({ "CPU, cores": cores }) => cores.service + cores.postgres,
};

function lossesOf(file, { ours, peers = {} }) {
  return Object.entries(HELD).flatMap(([what, read]) => {
    // A peer that drops tokens has less to do.
    const ahead = Object.entries(peers).filter(
      ([, peer]) => read(peer) < read(ours) && peer.lost.missing <= ours.lost.missing,
    );
    const told = ahead.map(([name, peer]) => `${name} ${shown(read(peer))}`).join(", ");
    return ahead.length > 0 ? [`- ${file}, ${what}: ${shown(read(ours))}; ${told}.`] : [];
  });
}

const lagOf = (result, name) => {
  const lag = result?.[name];
  return lag ? `${lag.p50} / ${lag.p99} / ${lag.max}` : "not measured";
};

const maxChart = (file, steps) =>
  lineChart({
    title: `${file}: p99 lag in ms, ${steps[0].load.viewers} viewers a run`,
    xLabel: "runs at once",
    bound: 250,
    lines: ["commit lag ms", "token lag ms"].map((name) => ({
      label: name.replace(" ms", ", p99"),
      points: steps.map((step) => [step.load.runs, step[name]?.p99 ?? 0]),
    })),
  });

const memoryChart = (file, samples) =>
  lineChart({
    title: `${file}: resident memory of the service, MiB`,
    xLabel: "minutes",
    lines: [{ label: "resident", points: samples.map(([seconds, mib]) => [seconds / 60, mib]) }],
  });

function stepTable({ most, steps, overload, after, capped }) {
  const row = (label, result) => [
    label,
    lagOf(result, "commit lag ms"),
    lagOf(result, "token lag ms"),
    `${shown(result.throughput["tokens per second"])} (${Math.round(result.throughput["share of what was due"] * 100)} %)`,
    coresOf(result),
    result.refused[429],
  ];
  const rows = [
    ...steps.map((step) => row(`${step.load.runs} x ${step.load.viewers}`, step)),
    ...(overload ? [row(`${overload.load.runs}, all admitted`, overload)] : []),
    ...(after ? [row(`${after.load.runs} after that`, after)] : []),
    ...(capped
      ? [row(`${capped.load.runs}, ${Math.max(most.runs, steps[0].load.runs)} admitted`, capped)]
      : []),
  ];
  return [
    `Most with p99 commit lag of at most 250 ms: **${most.runs} runs with ${most.viewers} viewers each**; by token lag ${most["by token lag"]}.`,
    "",
    ...table(
      [
        "runs x viewers",
        "commit lag p50/p99/max, ms",
        "token lag, ms",
        "tokens/s",
        "cores: service, postgres, client, others",
        "429",
      ],
      rows,
    ),
  ];
}

const coresOf = ({ "CPU, cores": cores }) =>
  ["service", "postgres", "client", "others"].map((who) => cores[who].toFixed(2)).join(", ");

function resultTable({ ours, peers = {} }) {
  const all = { Throughline: ours, ...peers };
  const rows = [
    ["commit lag p50/p99/max, ms", (result) => lagOf(result, "commit lag ms")],
    ["token lag p50/p99/max, ms", (result) => lagOf(result, "token lag ms")],
    ["tokens per second to viewers", (result) => shown(result.throughput["tokens per second"])],
    ["of what was due", (result) => `${Math.round(result.throughput["share of what was due"] * 100)} %`],
    ["frames per second", (result) => shown(result.throughput["frames per second"])],
    ["tokens missed, doubled", (result) => `${result.lost.missing}, ${result.lost.doubled}`],
    ["reconnects", (result) => shown(result.lost.returns)],
    ["429, failed", (result) => `${result.refused[429]}, ${result.refused.failed}`],
    ["cores: service, postgres, client, others", coresOf],
    ["memory of the service, MiB", (result) => shown(Math.round(result.memory["service MiB"]))],
    ["memory slope, MiB an hour", slopeOf],
    [
      "stored per run: log, checkpoints, WAL, KB",
      ({ "stored per run": stored }) =>
        stored
          ? ["log bytes", "checkpoint bytes", "WAL bytes"]
              .map((what) => shown(stored[what] / 1_024))
              .join(", ")
          : "not measured",
    ],
    ["load average before, after", (result) => Object.values(result["load average"]).map(shown).join(", ")],
    ...Object.keys(ours)
      .filter((name) => /^(driven|runs of)/.test(name))
      .map((name) => [name, (result) => toldOf(result[name])]),
  ];
  return table(
    ["", ...Object.keys(all)],
    rows.map(([label, read]) => [label, ...Object.values(all).map(read)]),
  );
}

/** A process that has just started only grows. */
function slopeOf({ load, memory }) {
  return load.seconds < LEAST_SECONDS_OF_SLOPE ? "too short" : shown(memory["slope MiB per hour"]);
}

function toldOf(part) {
  if (part === undefined) return "not measured";
  const lag = part["token lag ms"];
  if (lag) return `${part.runs} runs, token lag ${lag.p50} / ${lag.p99} / ${lag.max} ms`;
  const pause = part["longest pause ms"];
  return pause === undefined ? `${part.runs} runs` : `${part.runs} runs, longest pause ${pause} ms`;
}
