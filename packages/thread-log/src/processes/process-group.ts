/** The processes of one host that serve together, as one of them sees them. */
export interface ProcessGroup {
  /** Eight characters, the same in all of them and in no other group. */
  readonly name: string;
  /** Where this process listens: the path of a Unix socket, or the name of a pipe on Windows. */
  readonly address: string;
  /** Tells the others that this one listens. */
  join(): void;
  /** Called with the addresses of all that have joined, this one's included, at each change. */
  onMembers(listener: (addresses: readonly string[]) => void): () => void;
}
