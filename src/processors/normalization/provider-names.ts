/**
 * The canonical name of a provider. The name of a framework is no provider; then the host or the model name decides.
 */
import { MODEL_VENDORS, NOT_PROVIDERS, PROVIDER_HOSTS, PROVIDERS } from '../../dialects/providers.ts';
import type { Tables } from '../../pdata/tables.ts';
import type { Memory } from '../../pdata/memory.ts';
import type { TextRef } from '../../pdata/text.ts';
import { Words } from './words.ts';

export const NO_PROVIDER = 0;
/** The word names a framework or is a placeholder. */
export const FRAMEWORK = -1;
/** An unknown word: the sender's spelling is kept. */
export const UNKNOWN_PROVIDER = -2;

const SEPARATOR_DOT = 0x2e;
const PACKAGE_SCOPE = /^@[^/]+\//;
/** No spelling is longer. Removing segments from a longer text would take quadratic time. */
const MAX_SPELLING = 256;

export class Providers {
  readonly #words = new Words();
  readonly #byWord: number[] = [];
  readonly #names: string[] = [''];
  #texts: readonly TextRef[] = [];

  constructor() {
    for (const { name, spellings } of PROVIDERS) {
      if (name === null) continue;
      if (!this.#names.includes(name)) this.#names.push(name);
      for (const spelling of spellings) this.#byWord[this.#words.add(spelling)] = this.#names.indexOf(name);
    }
    for (const word of NOT_PROVIDERS) this.#byWord[this.#words.add(word)] = FRAMEWORK;
  }

  prepare(tables: Tables): void {
    this.#texts = this.#names.map((name) => tables.constant(name));
  }

  nameOf(provider: number): string {
    return this.#names[provider] ?? '';
  }

  textOf(provider: number): TextRef {
    return this.#texts[provider] as TextRef;
  }

  /** The provider of a text. Segments after dots (`openai.chat`) name the interface and are removed one by one. */
  ofText(memory: Memory, offset: number, length: number): number {
    if (length > MAX_SPELLING) return UNKNOWN_PROVIDER;
    for (let end = length; end > 0; end--) {
      if (end < length && memory.u8[offset + end] !== SEPARATOR_DOT) continue;
      const word = this.#words.ofText(memory, offset, end);
      if (word !== 0) return this.#byWord[word] ?? UNKNOWN_PROVIDER;
    }
    return UNKNOWN_PROVIDER;
  }

  ofString(text: string): number {
    if (text.length > MAX_SPELLING) return UNKNOWN_PROVIDER;
    for (let name = text.replace(PACKAGE_SCOPE, ''); ; name = name.slice(0, name.lastIndexOf('.'))) {
      const word = this.#words.ofString(name);
      if (word !== 0) return this.#byWord[word] ?? UNKNOWN_PROVIDER;
      if (!name.includes('.')) return UNKNOWN_PROVIDER;
    }
  }

  ofHost(host: string): number {
    if (host.length > MAX_SPELLING) return NO_PROVIDER;
    const folded = host.toLowerCase();
    const found = PROVIDER_HOSTS.find(([ending]) => folded.endsWith(ending) || folded === ending.replace(/^\./, ''));
    return found === undefined ? NO_PROVIDER : this.#names.indexOf(found[1]);
  }

  ofModel(model: string): number {
    const folded = model.toLowerCase();
    const found = MODEL_VENDORS.find(([beginning]) => folded.startsWith(beginning));
    return found === undefined ? NO_PROVIDER : this.#names.indexOf(found[1]);
  }
}
