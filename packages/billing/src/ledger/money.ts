/** An amount of money in units of 1e-12 US dollars. Integers add up exactly; floats do not. */
export type Picodollars = bigint;

const DIGITS = 12;
export const PICODOLLARS_PER_USD: Picodollars = 10n ** BigInt(DIGITS);

const DECIMAL = /^(-?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

/**
 * Reads a decimal number of dollars, rounded half up. LiteLLM writes exponents and float noise
 * (`1.4999999999999999e-05`). A number is read as its shortest decimal text, which is what Python writes for the same float.
 * `undefined` for everything that is no number.
 */
export function parseUsd(value: unknown): Picodollars | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const match = DECIMAL.exec(String(value).trim());
  if (!match) return undefined;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  if (digits === "") return undefined;
  const shift = DIGITS + Number(exponent) - fraction.length;
  const amount = shift >= 0 ? BigInt(digits) * 10n ** BigInt(shift) : divideHalfUp(digits, -shift);
  return sign === "-" ? -amount : amount;
}

/** Reads a price or a cost, of which there is none below zero. */
export function parseCost(value: unknown): Picodollars | undefined {
  const amount = parseUsd(value);
  return amount === undefined || amount < 0n ? undefined : amount;
}

function divideHalfUp(digits: string, by: number): bigint {
  const integer = digits.slice(0, -by);
  const firstDropped = digits.at(-by) ?? "0";
  return BigInt(integer === "" ? "0" : integer) + (digits.length >= by && firstDropped >= "5" ? 1n : 0n);
}

/** The exact decimal text, without trailing zeros: `0.000017`. */
export function formatUsd(amount: Picodollars): string {
  const sign = amount < 0n ? "-" : "";
  const digits = String(amount < 0n ? -amount : amount).padStart(DIGITS + 1, "0");
  const fraction = digits.slice(-DIGITS).replace(/0+$/, "");
  return `${sign}${digits.slice(0, -DIGITS)}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Converts an amount for the wire, where costs are numbers. Never add these up. */
export function toUsdNumber(amount: Picodollars): number {
  return Number(formatUsd(amount));
}
