/** A short fingerprint of a text. For telling checkpoints apart, not for security. */
export function digest(text: string): string {
  // FNV-1a in two lanes of 32 bits: pure, and 64 bits are plenty to tell a thread's checkpoints apart.
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x85ebca6b);
  }
  return (a >>> 0).toString(16).padStart(8, "0") + (b >>> 0).toString(16).padStart(8, "0");
}
