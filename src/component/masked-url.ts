/** Masks what a URL holds of a secret, in any text: a user and password, and parameters named like a secret. */

/** In place of a secret that is configured. */
export const REDACTED = '[REDACTED]';

/**
 * A password may have `@` and `/` itself, so it ends at the last `@`, and is no port. Without a password the user is
 * often a token.
 */
const LOGIN = /(\/\/)([^\s/?#"'`<>:@]*)(?:(:)(?!\d{1,5}[/?#])([^\s"'`<>]*))?(?=@)/gu;
const PARAMETER =
  /([?&](?:[\w.-]*[_.-])?(?:api_?key|access_?key|key|token|secret|password|passwd|pwd|signature|sig|auth|credentials?)=)([^\s&#"'`<>]+)/giu;
/** A reference to a variable stays readable. */
const REFERENCE = '${';

export function maskUrls(text: string, mask: (secret: string) => string = () => REDACTED): string {
  const masked = (secret: string): string => (secret === '' || secret.startsWith(REFERENCE) ? secret : mask(secret));
  return text
    .replace(LOGIN, (_whole, slashes: string, user: string, colon?: string, password = '') =>
      colon === undefined ? slashes + masked(user) : slashes + user + colon + masked(password),
    )
    .replace(PARAMETER, (_whole, before: string, secret: string) => before + masked(secret));
}
