import type { Store } from "@throughline/agent-client";
import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";

export type IsEqual<T> = (a: T, b: T) => boolean;

/**
 * A part of a store. Renders again only when `isEqual` finds the part changed, and until then returns the identical value. The
 * selector may be a new function on each render.
 */
export function useSelector<S, T>(
  store: Store<S>,
  onServer: S,
  selector: (snapshot: S) => T,
  isEqual: IsEqual<T> = Object.is,
): T {
  const shown = useRef<{ readonly store: Store<S>; readonly value: T }>(undefined);
  const [read, readOnServer] = useMemo(() => {
    function selecting(snapshotNow: () => S): () => T {
      let last: { readonly snapshot: S; readonly value: T } | undefined;
      return () => {
        const snapshot = snapshotNow();
        if (last && Object.is(last.snapshot, snapshot)) return last.value;
        const next = selector(snapshot);
        // A value of another store is never reused, even if it is equal.
        const before = last ?? (shown.current?.store === store ? shown.current : undefined);
        const value = before && isEqual(before.value, next) ? before.value : next;
        last = { snapshot, value };
        return value;
      };
    }
    return [selecting(store.getSnapshot), selecting(() => onServer)];
  }, [store, onServer, selector, isEqual]);
  const value = useSyncExternalStore(store.subscribe, read, readOnServer);
  useEffect(() => {
    shown.current = { store, value };
  }, [store, value]);
  return value;
}

/** Compares one level deep: the items of an array, the values of an object. For selectors that create a new one each time. */
export function shallowEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && Object.is(a[key], b[key]))
  );
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
