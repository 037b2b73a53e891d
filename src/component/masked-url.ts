/** Masks what a URL holds of a secret, in any text: a user and password, and parameters named like a secret. */

/** In place of a secret that is configured. */
export const REDACTED = '[REDACTED]';

/** The characters of URLs without a gap. A text may be long, so it is searched in runs, and each of them once. */
const RUN = /[^\s"'`<>]+/gu;
/** Without a password the user is often a token. Digits after the colon and before the path are a port. */
const LOGIN = /\/\/([^\s/?#"'`<>:@]*)(?::(?!\d{1,5}[/?#])|(?=@))/gu;
const PARAMETER =
  /([?&](?:[\w.-]*[_.-])?(?:api_?key|access_?key|key|token|secret|password|passwd|pwd|signature|sig|auth|credentials?)=)([^\s&#"'`<>]+)/giu;
/** A reference to a variable stays readable. */
const REFERENCE = '${';

export function maskUrls(text: string, mask: (secret: string) => string = () => REDACTED): string {
  const masked = (secret: string): string => (secret === '' || secret.startsWith(REFERENCE) ? secret : mask(secret));
  return text
    .replace(RUN, (run) => maskLogins(run, masked))
    .replace(PARAMETER, (_whole, before: string, secret: string) => before + masked(secret));
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
