/** The spellings under which one emitted model name may stand in a price list, in the order in which they are tried. All lower case. */

export interface Spelling {
  readonly name: string;
  /** A respelling drops or changes something (a date, `-latest`, a region); only catalogues are searched for it, never a user's own entries. */
  readonly respelled: boolean;
}

export interface Spellings {
  readonly names: readonly Spelling[];
  /** Why the name must stay without a list price; a user's own entry may still price it. */
  readonly unpriceable: string | null;
}

/** A name longer than this is not a model name, and is not worth a place in the cache. */
export const MODEL_NAME_LENGTH = 256;

const PRIVATE_ARN =
  /(?:^|[/:])(application-inference-profile|provisioned-model|imported-model|custom-model(?:-deployment)?)\//;
const ARN_TAIL = /(?:^|[/:])(?:inference-profile|foundation-model)\/(.+)$/;
const PUBLISHER_PATH = /(?:^|\/)publishers\/[^/]+\/models\/(.+)$/;
const ROUTER_TAG = /:(?:nitro|floor|online|thinking|extended)$/;
const BEDROCK_VERSION = /(?:-v\d+)?:\d+(?::\d+k)?$|-v\d+$/;
const BEDROCK_REGION = /^(?:us|eu|apac|jp|au|in|ca|sa|uk|us-gov)\./;
const DATE_SUFFIX = /-(?:\d{8}|\d{4}-\d{2}-\d{2})$/;
const FINE_TUNED = /^ft:|\.ft-/;
const VERSION = /-v(\d+)(?=$|[:@])/;

/** The spellings of a lower-case name on a route. `samePrefix` says whether `x` of `x/name` means the same provider. */
export function spellingsOf(emitted: string, route: string | null, samePrefix: (prefix: string) => boolean): Spellings {
  const privateArn = PRIVATE_ARN.exec(emitted);
  if (privateArn !== null)
    return { names: [plain(emitted)], unpriceable: `${privateArn[1]} names a private deployment` };
  if (emitted.endsWith(':free')) return { names: [plain(emitted)], unpriceable: 'a free route has no price per token' };
  if (emitted.startsWith('tunedmodels/'))
    return { names: [plain(emitted)], unpriceable: 'a tuned model has a price of its own' };
  const names = new Map<string, boolean>([[emitted, false]]);
  const respell = (change: (name: string) => string, respelled: boolean): void => {
    for (const [name, already] of [...names]) {
      const changed = change(name);
      if (changed !== '' && !names.has(changed)) names.set(changed, respelled || already);
    }
  };
  for (const change of pathChanges(samePrefix)) respell(change, false);
  if (!FINE_TUNED.test(emitted)) {
    respell((name) => name.replace(/^gpt-35/, 'gpt-3.5'), false);
    respell(withoutAt, false);
    respell((name) => name.replace(ROUTER_TAG, ''), false);
    if (route === 'aws') respell((name) => name.replace(BEDROCK_VERSION, ''), false);
    if (route === 'aws') respell((name) => name.replace(BEDROCK_REGION, ''), true);
    respell((name) => name.replace(DATE_SUFFIX, ''), true);
    respell((name) => name.replace(/-latest$/, ''), true);
    respell((name) => name.replace(/(\d)\.(\d)(?!\d)/g, '$1-$2'), true);
    respell((name) => name.replace(/(?<!\d)(\d)-(\d)(?!\d)/g, '$1.$2'), true);
  }
  return { names: [...names].map(([name, respelled]) => ({ name, respelled })), unpriceable: null };
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

/** Vertex versions: `name@20250514` is `name-20250514`, `name@default` is `name`, and `name-v2@date` drops the version. */
function withoutAt(name: string): string {
  const at = name.indexOf('@');
  if (at <= 0) return name;
  const base = name.slice(0, at).replace(/-v\d+$/, '');
  const version = name.slice(at + 1);
  return version === 'default' || version === 'latest' ? base : `${base}-${version}`;
}
