/** The part of a text that a source row names by what is before or after it. */

/**
 * The text before the first occurrence of `before`, empty without one; or the text after the first occurrence of
 * `after`, the whole text without one. Null and undefined: no such limit.
 */
export function trimTo(
  text: string,
  { before, after }: { readonly before?: string | null; readonly after?: string | null },
): string {
  if (before != null) return text.includes(before) ? text.slice(0, text.indexOf(before)) : '';
  return after != null && text.includes(after) ? text.slice(text.indexOf(after) + after.length) : text;
}
