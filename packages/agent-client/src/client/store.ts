/** As React's `useSyncExternalStore` wants it: the same value until a listener was told of another. */
export interface Store<T> {
  getSnapshot(): T;
  subscribe(listener: () => void): () => void;
}
