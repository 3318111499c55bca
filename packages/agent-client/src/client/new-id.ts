/** A UUID of version 7: unique, and greater than those of earlier milliseconds, in whatever tab they were made. */
export function newId(now: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  const random = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const time = now.toString(16).padStart(12, "0").slice(-12);
  const variant = "89ab".charAt(Number.parseInt(random.charAt(3), 16) & 3);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}
