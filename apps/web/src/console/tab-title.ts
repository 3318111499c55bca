const MARK = /^\(\d+\) /;

/** A tab's title with how many threads wait for the person, as mail programs do it. */
export function markedTitle(title: string, waiting: number): string {
  const plain = title.replace(MARK, "");
  return waiting === 0 ? plain : `(${waiting}) ${plain}`;
}
