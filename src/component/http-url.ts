/** The URL of a server that speaks HTTP. */

/** The host comes first. There are no spaces and no fragment, which a client does not send. */
const FORM = /^https?:\/\/[^\s#/?][^\s#]*$/iu;

export function isHttpUrl(text: string): boolean {
  return FORM.test(text) && URL.canParse(text) && new URL(text).port !== '0';
}
