/**
 * The target of a request in origin form (`/path?query`) or in absolute form (`http://host/path?query`), which every
 * server must accept (RFC 9112, section 3.2.2).
 */
export interface RequestTarget {
  /** The authority of a target in absolute form, which replaces Host; null in origin form. */
  readonly authority: string | null;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
}

/** An authority with a user is not valid for HTTP (RFC 9110, section 4.2.4). */
const ABSOLUTE = /^https?:\/\/([^/?#@]+)((?:[/?].*)?)$/iu;

/** Null when the target has another form, for example `*`. */
export function targetOf(url: string): RequestTarget | null {
  if (url.startsWith('/')) return { authority: null, ...splitQuery(url) };
  const [, authority, rest] = ABSOLUTE.exec(url) ?? [];
  if (authority === undefined || rest === undefined) return null;
  return { authority, ...splitQuery(rest.startsWith('/') ? rest : `/${rest}`) };
}

function splitQuery(text: string): { readonly path: string; readonly query: string } {
  const at = text.indexOf('?');
  return at < 0 ? { path: text, query: '' } : { path: text.slice(0, at), query: text.slice(at + 1) };
}
