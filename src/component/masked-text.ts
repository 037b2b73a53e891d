/**
 * Texts of a client for a log line. A client may send a secret in any place, for example a key as its environment. So
 * only words and short numbers are kept, and the rest is masked: a secret has no form that is known here.
 */

const MASK = '[masked]';
/** Between tokens. A token is kept or masked as a whole, because a part of a secret may look like a word. */
const TOKEN = /[^\s;,="'`()<>[\]{}]+/gu;
const SEGMENT = /[\p{L}\p{N}]+/gu;
/** A word in one case, with a short number: `production`, `Gzip`, `UTF8`, `2026`. */
const PLAIN = /^(?:\p{Ll}{1,15}|\p{Lu}{1,15}|\p{Lu}\p{Ll}{1,14}|\p{Lo}{1,15})?\d{0,4}$/u;
/** The schema of the `auth` processor allows no shorter key. */
const SHORTEST_SECRET = 16;

/** `secret` is masked also when it consists of words. The case of its letters does not matter. */
export function maskSecrets(text: string, secret = ''): string {
  const at = secret.length < SHORTEST_SECRET ? -1 : text.toLowerCase().indexOf(secret.toLowerCase());
  if (at >= 0) return maskSecrets(text.slice(0, at)) + MASK + maskSecrets(text.slice(at + secret.length), secret);
  return text.replace(TOKEN, (token) => (isPlain(token) ? token : MASK));
}

/** A failure while the data of a client was handled: its message may quote the data. The place in the code is kept. */
export function maskedError(error: unknown): object {
  if (!(error instanceof Error)) return { message: maskSecrets(String(error)) };
  const frames = error.stack?.split('\n').filter((line) => /^ {4}at /u.test(line)) ?? [];
  return { type: error.name, message: maskSecrets(error.message), stack: frames.join('\n') };
}

const isPlain = (token: string): boolean => (token.match(SEGMENT) ?? []).every((segment) => PLAIN.test(segment));
