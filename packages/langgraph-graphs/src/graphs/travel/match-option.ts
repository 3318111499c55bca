/** An option as a person may answer with it: the thing itself, its name, its place in the list, or JSON of any of these. */
export function matchOption<Option extends object>(
  options: readonly Option[],
  nameOf: (option: Option) => string,
  answer: unknown,
): Option | undefined {
  if (typeof answer === "number") return options[answer];
  if (typeof answer === "string") {
    const named = options.find((option) => sameName(nameOf(option), answer));
    return named ?? matchJson(options, nameOf, answer);
  }
  if (typeof answer !== "object" || answer === null) return undefined;
  return options.find((option) => isSameOption(option, nameOf(option), answer));
}

function matchJson<Option extends object>(
  options: readonly Option[],
  nameOf: (option: Option) => string,
  text: string,
): Option | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  // A string inside a string is a name that was encoded once too often; unwrap it once, not for ever.
  if (typeof parsed === "string") return options.find((option) => sameName(nameOf(option), String(parsed)));
  return matchOption(options, nameOf, parsed);
}

/**
 * A client may send fewer fields than it was offered, but none that differ: an answer with a price of its own must not
 * pass for the option. The option kept is ours either way.
 */
function isSameOption(option: object, name: string, answer: object): boolean {
  const offered = new Map<string, unknown>(Object.entries(option));
  const given = Object.entries(answer);
  return (
    given.some(([, value]) => typeof value === "string" && sameName(value, name)) &&
    given.every(([field, value]) => offered.get(field) === value)
  );
}

function sameName(left: string, right: string): boolean {
  return left.trim().toLowerCase() === right.trim().toLowerCase();
}
