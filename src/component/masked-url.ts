/** Masks what a URL holds of a secret, in any text: a login, parameters named like a secret, tokens in the path. */

/** In place of a secret that is configured. */
export const REDACTED = '[REDACTED]';

/** The characters of URLs without a gap. A text may be long, so it is searched in runs, and each of them once. */
const RUN = /[^\s"'`<>]+/gu;
/** Without a password the user is often a token. Digits after the colon and before the path are a port. */
const LOGIN = /\/\/([^\s/?#"'`<>:@]*)(?::(?!\d{1,5}[/?#])|(?=@))/gu;
const PARAMETER =
  /([?&](?:[\w.-]*[_.-])?(?:api_?key|access_?key|key|token|secret|password|passwd|pwd|signature|sig|auth|credentials?)=)([^\s&#"'`<>]+)/giu;
const HTTP = /https?:\/\//iu;
/** Some services have the key in the path. Other parts of a path have no digits with letters of both cases. */
const PATH_TOKEN =
  /(?<=[^/:]\/)(?=[\w=-]*\d)(?:(?=[\w=-]*[a-z])(?=[\w=-]*[A-Z])[\w=-]{20,}|[\da-f]{32,})(?![^/?#,;)])/gu;
/** A reference to a variable stays readable. */
const REFERENCE = '${';

export function maskUrls(text: string, mask: (secret: string) => string = () => REDACTED): string {
  const masked = (secret: string): string => (secret === '' || secret.startsWith(REFERENCE) ? secret : mask(secret));
  return text
    .replace(RUN, (run) => maskPath(maskLogins(run, masked), masked))
    .replace(PARAMETER, (_whole, before: string, secret: string) => before + masked(secret));
}

function maskPath(run: string, masked: (secret: string) => string): string {
  const at = run.search(HTTP);
  return at < 0 ? run : run.slice(0, at) + run.slice(at).replace(PATH_TOKEN, masked);
}

/** A password may have `@` and `/` itself, so it ends at the last `@`. */
function maskLogins(run: string, masked: (secret: string) => string): string {
  const last = run.lastIndexOf('@');
  let shown = '';
  let at = 0;
  for (const { index, 0: login, 1: user = '' } of last < 0 ? [] : run.matchAll(LOGIN)) {
    const end = index + login.length;
    if (end > last) break;
    if (login.endsWith(':')) return shown + run.slice(at, end) + masked(run.slice(end, last)) + run.slice(last);
    shown += run.slice(at, end - user.length) + masked(user);
    at = end;
  }
  return shown + run.slice(at);
}
