/**
 * @param {{ name: string, machine: Record<string, unknown>, ours: object, peer: object,
 *   targets: readonly { name: string, value: number, target: string, met: boolean }[] }} report
 */
export function printReport({ name, machine, ours, peer, targets }) {
  const lines = [
    "",
    `${name} on ${machine.cpu}, ${machine.cores} cores, Node ${machine.node}`,
    "",
    ...section("ours", ours, Math.floor),
    ...section("peer", peer, Math.ceil),
    "targets",
    ...targetLines(targets),
    "",
  ];
  process.stdout.write(lines.join("\n"));
}

function section(title, groups, cut) {
  const rows = Object.entries(groups).flatMap(([group, values]) =>
    Object.entries(values).map(([label, value]) => [group, label, shown(value, cut)]),
  );
  if (rows.length === 0) return [];
  const widthOf = (column) => Math.max(...rows.map((row) => row[column].length));
  const [first, second, third] = [0, 1, 2].map(widthOf);
  const lines = rows.map(
    ([group, label, value]) => `  ${group.padEnd(first)}  ${label.padEnd(second)}  ${value.padStart(third)}`,
  );
  return [title, ...lines, ""];
}

/** Cut towards the miss: what has to be large is cut down, what has to be small is cut up. */
function targetLines(targets) {
  const width = Math.max(0, ...targets.map(({ name }) => name.length));
  return targets.map(({ name, value, target, met }) => {
    const cut = target.startsWith(">=") ? Math.floor : Math.ceil;
    return `  ${met ? "met   " : "MISSED"}  ${name.padEnd(width)}${shown(value, cut).padStart(10)}   ${target}`;
  });
}

function shown(value, cut) {
  if (typeof value !== "number") return String(value);
  const factor = value >= 1_000 ? 1 : 10_000;
  return (cut(value * factor) / factor).toLocaleString("en-US", { maximumFractionDigits: 4 });
}
