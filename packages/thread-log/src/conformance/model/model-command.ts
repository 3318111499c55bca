import fc from "fast-check";
import type { ModelWorld } from "./model-world.js";
import type { Operation } from "./operation.js";
import type { Loss } from "./statement-gate.js";

/** What fast-check draws. It becomes an operation when its turn comes, because only then there are leases to use. */
export interface ModelCommand {
  readonly instance: number;
  readonly loss: Loss | undefined;
  /** `undefined` when there is nothing yet that it could be about. */
  resolve(world: ModelWorld): Operation | undefined;
  /** The same command about another thread or lease. */
  at(number: number): ModelCommand;
  toString(): string;
}

/** Numbers that a command resolves by: which thread, which lease, how many. */
export type Numbers = readonly [number, number, number, number];

export type Resolve = (world: ModelWorld, numbers: Numbers) => Operation | undefined;

const loss: fc.Arbitrary<Loss | undefined> = fc.oneof(
  { weight: 9, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.record({ statement: fc.nat(3), executed: fc.boolean() }) },
);

export function command(name: string, resolve: Resolve): fc.Arbitrary<ModelCommand> {
  const make = (instance: number, lost: Loss | undefined, numbers: Numbers): ModelCommand => ({
    instance,
    loss: lost,
    resolve: (world) => resolve(world, numbers),
    at: (number) => make(instance, lost, [number, numbers[1], numbers[2], numbers[3]]),
    toString: () => `${name}(${numbers.join(" ")})`,
  });
  const number = fc.nat(63);
  return fc
    .tuple(fc.nat(2), loss, fc.tuple(number, number, number, number))
    .map(([instance, lost, numbers]) => make(instance, lost, numbers));
}

export function isBit(n: number, bit: number): boolean {
  return (n & (1 << bit)) !== 0;
}
