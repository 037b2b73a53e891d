/**
 * The spellings under which a price list may have an emitted model name, in the order in which they are tried. All
 * lower case.
 */
import { FINE_TUNED } from './name-pattern.ts';

export interface Spelling {
  readonly name: string;
  /**
   * A respelling drops or changes something (a date, `-latest`, a region); only catalogues are searched for it, never a
   * user's own entries.
   */
  readonly respelled: boolean;
}

export interface Spellings {
  readonly names: readonly Spelling[];
  /** Why the name has no list price; a user's own entry may still price it. */
  readonly unpriceable: string | null;
}

/** Longer names are no model names and are not cached. */
export const MODEL_NAME_LENGTH = 256;

const PRIVATE_ARN =
  /(?:^|[/:])(application-inference-profile|provisioned-model|imported-model|custom-model(?:-deployment)?)\//;
const ARN_TAIL = /(?:^|[/:])(?:inference-profile|foundation-model)\/(.+)$/;
const PUBLISHER_PATH = /(?:^|\/)publishers\/[^/]+\/models\/(.+)$/;
const ROUTER_TAG = /:(?:nitro|floor|online|thinking|extended)$/;
const BEDROCK_VERSION = /(?:-v\d+)?:\d+(?::\d+k)?$|-v\d+$/;
const BEDROCK_REGION = /^(?:us|eu|apac|jp|au|in|ca|sa|uk|us-gov)\./;
const DATE_SUFFIX = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;
const VERSION = /-v(\d+)(?=$|[:@])/;

/** The most spellings that are tried. A Bedrock ARN with a region, a date and a version has 16. */
const MAX_SPELLINGS = 32;

/** The spellings of a lower-case name on a route. `samePrefix` says whether `x` of `x/name` means the same provider. */
export function spellingsOf(emitted: string, route: string | null, samePrefix: (prefix: string) => boolean): Spellings {
  const privateArn = PRIVATE_ARN.exec(emitted);
  if (privateArn !== null)
    return { names: [plain(emitted)], unpriceable: `${privateArn[1]} names a private deployment` };
  if (emitted.endsWith(':free')) return { names: [plain(emitted)], unpriceable: 'a free route has no price per token' };
  if (emitted.startsWith('tunedmodels/'))
    return { names: [plain(emitted)], unpriceable: 'a tuned model has a price of its own' };
  const spellings = [plain(emitted)];
  if (emitted.includes('/')) for (const change of pathChanges(samePrefix)) respell(spellings, change, false);
  if (!FINE_TUNED.test(emitted))
    for (const { sign, change, respelled, route: only } of CHANGES)
      if ((only === null || only === route) && sign.test(emitted)) respell(spellings, change, respelled);
  return { names: spellings, unpriceable: null };
}

interface Change {
  /** The change applies only to names that match this: most changes concern few names. */
  readonly sign: RegExp;
  readonly change: (name: string) => string;
  readonly respelled: boolean;
  /** The only route to which it applies; null: any. */
  readonly route: string | null;
}

const CHANGES: readonly Change[] = [
  { sign: /gpt-35/, change: (name) => name.replace(/^gpt-35/, 'gpt-3.5'), respelled: false, route: null },
  { sign: /@/, change: withoutAt, respelled: false, route: null },
  { sign: /:/, change: (name) => name.replace(ROUTER_TAG, ''), respelled: false, route: null },
  { sign: /:|-v\d/, change: (name) => name.replace(BEDROCK_VERSION, ''), respelled: false, route: 'aws' },
  { sign: /\./, change: (name) => name.replace(BEDROCK_REGION, ''), respelled: true, route: 'aws' },
  { sign: /\d{8}|\d-\d/, change: (name) => name.replace(DATE_SUFFIX, ''), respelled: true, route: null },
  { sign: /-latest/, change: (name) => name.replace(/-latest$/, ''), respelled: true, route: null },
  {
    sign: /\d\.\d|gpt-35/,
    change: (name) => name.replace(/(\d)\.(\d)(?!\d)/g, '$1-$2'),
    respelled: true,
    route: null,
  },
  {
    sign: /\d[-@]\d/,
    change: (name) => name.replace(/(?<!\d)(\d)-(\d)(?!\d)/g, '$1.$2'),
    respelled: true,
    route: null,
  },
];

/** Adds the result of a change for each spelling so far. */
function respell(spellings: Spelling[], change: (name: string) => string, respelled: boolean): void {
  const count = spellings.length;
  for (let index = 0; index < count && spellings.length < MAX_SPELLINGS; index++) {
    const { name, respelled: already } = spellings[index] as Spelling;
    const changed = change(name);
    if (changed === name || changed === '' || spellings.some((spelling) => spelling.name === changed)) continue;
    spellings.push({ name: changed, respelled: respelled || already });
  }
}

/** The `N` of `-vN` in a name; null when it has none. Two names with different versions are different models. */
export function versionIn(name: string): string | null {
  return VERSION.exec(name)?.[1] ?? null;
}

function plain(name: string): Spelling {
  return { name, respelled: false };
}

function pathChanges(samePrefix: (prefix: string) => boolean): ((name: string) => string)[] {
  return [
    (name) => ARN_TAIL.exec(name)?.[1] ?? name,
    (name) => PUBLISHER_PATH.exec(name)?.[1] ?? name,
    (name) => (name.startsWith('models/') ? name.slice('models/'.length) : name),
    (name) => {
      const slash = name.indexOf('/');
      return slash > 0 && samePrefix(name.slice(0, slash)) ? name.slice(slash + 1) : name;
    },
  ];
}

/**
 * Vertex versions: `name@20250514` is `name-20250514`, `name@default` is `name`, and `name-v2@date` drops the version.
 */
function withoutAt(name: string): string {
  const at = name.indexOf('@');
  if (at <= 0) return name;
  const base = name.slice(0, at).replace(/-v\d+$/, '');
  const version = name.slice(at + 1);
  return version === 'default' || version === 'latest' ? base : `${base}-${version}`;
}
