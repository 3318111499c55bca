import type { Model } from "../service/queries/models";

/** What a million tokens cost, in and out, short enough for a phone; `undefined` where a price is not known. */
export function priceWords({ inputPrice, outputPrice }: Model): string | undefined {
  if (inputPrice === null || outputPrice === null) return undefined;
  return `${perMillion(inputPrice)} in, ${perMillion(outputPrice)} out per 1M`;
}

function perMillion(price: string): string {
  const usd = Number(price) * 1_000_000;
  return `$${Number(usd.toPrecision(3))}`;
}
