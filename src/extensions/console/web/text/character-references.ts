/**
 * The names of characters in Markdown, such as `&lt;`, in place of a package that makes HTML to read them: the policy
 * of the page refuses that. A name that is not here stays as it is written. The module has no import, so that tests can
 * run it without a browser.
 */

/** Names of characters one after the other, by the first of them. An empty name is a character without one. */
const NAMES: Readonly<Record<number, string>> = {
  34: 'quot',
  38: 'amp apos',
  60: 'lt  gt',
  160:
    'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute ' +
    'micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig ' +
    'Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times ' +
    'Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave ' +
    'eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave ' +
    'uacute ucirc uuml yacute thorn yuml',
  913:
    'Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho  Sigma Tau Upsilon Phi ' +
    'Chi Psi Omega',
  945:
    'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau ' +
    'upsilon phi chi psi omega',
  8194: 'ensp emsp',
  8201: 'thinsp',
  8211: 'ndash mdash',
  8216: 'lsquo rsquo sbquo  ldquo rdquo bdquo  dagger Dagger bull',
  8230: 'hellip',
  8364: 'euro',
  8482: 'trade',
  8592: 'larr uarr rarr darr harr',
  8658: 'rArr  hArr',
  8704: 'forall  part exist',
  8721: 'sum minus',
  8730: 'radic',
  8734: 'infin',
  8776: 'asymp',
  8800: 'ne equiv',
  8804: 'le ge',
  10003: 'check',
};

const CHARACTERS: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([first, names]) =>
    names.split(' ').map((name, at) => [name, String.fromCharCode(Number(first) + at)] as const),
  ),
);

/** The character with this name; false: none is known. */
export const decodeNamedCharacterReference = (name: string): string | false => CHARACTERS.get(name) ?? false;
