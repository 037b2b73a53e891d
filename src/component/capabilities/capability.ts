/**
 * What one component offers to others without either knowing the other's module: a typed key in a small registry that lives
 * as long as one assembled service.
 */

/** A key with a phantom type. The name shows in error messages. */
export interface Capability<T> {
  readonly name: string;
  /** Never set: it only carries the type. */
  readonly type?: T;
}

interface Offer {
  readonly owner: string;
  readonly value: unknown;
}

/** What the service itself offers is found under this owner. */
export const SERVICE_OWNER = 'service';

/** One component's view of what all components of a service offer; it remembers whose offers it found. */
export class Capabilities {
  readonly #owner: string;
  readonly #sources = new Set<string | null>();
  #offers: Map<string, Offer>;

  constructor(owner = SERVICE_OWNER, offers = new Map<string, Offer>()) {
    this.#owner = owner;
    this.#offers = offers;
  }

  /** The view of another component of the same service. */
  scope(owner: string): Capabilities {
    return new Capabilities(owner, this.#offers);
  }

  /** Throws when two components offer the same thing. */
  offer<T>(capability: Capability<T>, value: T): void {
    if (this.#offers.has(capability.name)) throw new Error(`two components offer "${capability.name}"`);
    this.#offers.set(capability.name, { owner: this.#owner, value });
  }

  find<T>(capability: Capability<T>): T | undefined {
    const found = this.#offers.get(capability.name);
    this.#sources.add(found?.owner ?? null);
    return found?.value as T | undefined;
  }

  /** Whose offers were found here; null stands among them when something was looked for that nobody offered. */
  get sources(): ReadonlySet<string | null> {
    return this.#sources;
  }

  /** A reload: what this component offers holds in the next service too, before it goes over to it. */
  lendTo(next: Capabilities): void {
    for (const [name, offer] of this.#offers) if (offer.owner === this.#owner) next.#offers.set(name, offer);
  }

  /** From here on the component finds what the next service offers. */
  follow(next: Capabilities): void {
    this.#offers = next.#offers;
  }
}
