import { shown, table } from "./table.mjs";

/** The targets of one bench, a row each. */
export function targetRows({ name, targets }) {
  return targets.map(({ name: target, value, target: bound, met }) => [
    name,
    target,
    shown(value),
    bound,
    met ? "yes" : "**no**",
  ]);
}

/** Every number of one bench, folded away. */
export function numbersSection({ name, ours, peer }) {
  const rows = Object.entries({ ours, peer }).flatMap(([side, groups]) =>
    Object.entries(groups ?? {}).flatMap(([group, values]) =>
      Object.entries(values).map(([label, value]) => [side, group, label, shown(value)]),
    ),
  );
  return [
    "<details>",
    `<summary>${name}</summary>`,
    "",
    ...table(["side", "what", "of", "value"], rows),
    "</details>",
    "",
  ];
}
