// @ts-check

/** @typedef {Record<string, unknown>} Arguments */
/** @typedef {{ [field: string]: true | { arguments: Arguments, selection: Selection } }} Selection */

const TOKEN = /[\s,]*("(?:[^"\\]|\\.)*"|-?\d[\d.]*(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|[{}()[\]:])/y;

/**
 * Reads the one form of GraphQL that Prisma's Python client writes: `query { result: findManyModel(take: 1) { id } }`.
 *
 * @param {string} text
 * @returns {{ operation: string, arguments: Arguments, selection: Selection }}
 */
export function readGraphql(text) {
  let at = 0;
  let next = scan();

  function scan() {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[1] ?? "";
    if (token !== "") at = TOKEN.lastIndex;
    return token;
  }

  const isNext = (/** @type {string} */ token) => next === token;

  /** @param {string} [expected] */
  function take(expected) {
    const token = next;
    if (token === "" || (expected !== undefined && token !== expected))
      throw new SyntaxError(`Expected ${expected ?? "more"} at: ${text.slice(at, at + 40)}`);
    next = scan();
    return token;
  }

  /** @returns {unknown} */
  function value() {
    const token = take();
    if (token === "{") return entries("}");
    if (token === "[") {
      const items = [];
      while (!isNext("]")) items.push(value());
      take("]");
      return items;
    }
    // What is left is a name of an enumeration.
    return /^(["\d-]|true$|false$|null$)/.test(token) ? JSON.parse(token) : token;
  }

  /** @param {"}" | ")"} end */
  function entries(end) {
    /** @type {Arguments} */
    const read = {};
    while (!isNext(end)) {
      const name = take();
      take(":");
      read[name.startsWith('"') ? JSON.parse(name) : name] = value();
    }
    take(end);
    return read;
  }

  function optionalArguments() {
    if (!isNext("(")) return {};
    take("(");
    return entries(")");
  }

  /** @returns {Selection} */
  function optionalSelection() {
    /** @type {Selection} */
    const read = {};
    if (!isNext("{")) return read;
    take("{");
    while (!isNext("}")) {
      const name = take();
      const field = { arguments: optionalArguments(), selection: optionalSelection() };
      const isPlain = Object.keys(field.arguments).length + Object.keys(field.selection).length === 0;
      read[name] = isPlain ? true : field;
    }
    take("}");
    return read;
  }

  take();
  take("{");
  take("result");
  take(":");
  return { operation: take(), arguments: optionalArguments(), selection: optionalSelection() };
}
