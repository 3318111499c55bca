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
    ...targets.map(targetLine),
    "",
  ];
  process.stdout.write(lines.join("\n"));
}

function section(title, groups, cut) {
  const rows = Object.entries(groups).flatMap(([group, values]) =>
    Object.entries(values).map(
      ([label, value]) => `  ${group.padEnd(20)}${label.padEnd(28)}${shown(value, cut).padStart(14)}`,
    ),
  );
  return [title, ...rows, ""];
}

/** Cut towards the miss: what has to be large is cut down, what has to be small is cut up. */
function targetLine({ name, value, target, met }) {
  const cut = target.startsWith(">=") ? Math.floor : Math.ceil;
  return `  ${met ? "met   " : "MISSED"}  ${name.padEnd(44)}${shown(value, cut).padStart(10)}   ${target}`;
}

function shown(value, cut) {
  if (typeof value !== "number") return String(value);
  const factor = value >= 1_000 ? 1 : 10_000;
  return (cut(value * factor) / factor).toLocaleString("en-US", { maximumFractionDigits: 4 });
}
