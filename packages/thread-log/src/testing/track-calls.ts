export interface TrackedCalls<T> {
  readonly tracked: T;
  /** Nothing is under way, and nothing that was has led to another call. */
  settled(): Promise<void>;
}

const QUIET_TURNS = 10;

/** Lets a test end what others may still be in the middle of using. */
export function trackCalls<T extends object>(target: T): TrackedCalls<T> {
  let underWay = 0;
  const end = () => {
    underWay--;
  };
  const tracked = new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(member, target, args);
        if (result instanceof Promise) {
          underWay++;
          result.then(end, end);
        }
        return result;
      };
    },
  });
  return {
    tracked,
    async settled() {
      for (let quiet = 0; quiet < QUIET_TURNS; quiet = underWay === 0 ? quiet + 1 : 0) {
        await new Promise(setImmediate);
      }
    },
  };
}
