/** Longer than any sum a person types, and short enough that nesting can't exhaust the stack. */
const MAX_LENGTH = 200;

/**
 * Evaluates `+ - * / ^`, parentheses, unary minus and decimals. Powers bind tighter than unary minus and to the right, so
 * `-2^2` is -4 and `2^3^2` is 512. Throws an Error that says what is wrong and where.
 */
export function evaluateExpression(text: string): number {
  if (text.length > MAX_LENGTH) throw new Error(`The expression is longer than ${MAX_LENGTH} characters.`);
  let position = 0;

  const peek = (): string => {
    while (/\s/.test(text.charAt(position))) position++;
    return text.charAt(position);
  };
  const accept = (...operators: readonly string[]): string | undefined => {
    const next = peek();
    if (next === "" || !operators.includes(next)) return undefined;
    position++;
    return next;
  };

  const sum = (): number => {
    let value = product();
    for (let operator = accept("+", "-"); operator; operator = accept("+", "-")) {
      value = operator === "+" ? value + product() : value - product();
    }
    return value;
  };
  const product = (): number => {
    let value = signed();
    for (let operator = accept("*", "/"); operator; operator = accept("*", "/")) {
      const right = signed();
      if (operator === "/" && right === 0) throw new Error("Division by zero.");
      value = operator === "*" ? value * right : value / right;
    }
    return value;
  };
  const signed = (): number => (accept("-") ? -signed() : power());
  const power = (): number => {
    const base = atom();
    return accept("^") ? base ** signed() : base;
  };
  const atom = (): number => {
    if (accept("(")) {
      const value = sum();
      if (!accept(")")) throw unexpected('a ")"');
      return value;
    }
    peek();
    const digits = /^(?:\d+(?:\.\d*)?|\.\d+)/.exec(text.slice(position))?.[0];
    if (digits === undefined) throw unexpected("a number");
    position += digits.length;
    return Number(digits);
  };
  const unexpected = (wanted: string): Error => {
    const found = peek();
    return new Error(
      found === ""
        ? `Expected ${wanted} at the end of the expression.`
        : `Expected ${wanted} at position ${position + 1}, found "${found}".`,
    );
  };

  const value = sum();
  if (peek() !== "") throw unexpected("an operator");
  if (!Number.isFinite(value)) throw new Error("The result is not a finite number.");
  return value;
}

/** Twelve digits: enough for any answer, and 0.1 + 0.2 reads as 0.3. */
export function formatNumber(value: number): string {
  return String(Number(value.toPrecision(12)));
}
