export interface Settleable<T> {
  readonly promise: Promise<T>;
  readonly settle: (value: T) => void;
}

export function settleable<T>(): Settleable<T> {
  let settle: (value: T) => void = () => {};
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  return { promise, settle };
}
