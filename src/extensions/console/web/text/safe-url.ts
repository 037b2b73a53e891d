/** Addresses in the texts of senders, which a click may follow. */

/** The address when it is one of the web, else null. */
export function safeUrl(text: string): string | null {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
}
