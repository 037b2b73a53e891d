/**
 * A capability is what one component offers to others without an import between their modules: a typed key in a
 * registry that lives as long as one assembled service.
 */

/** A key with a phantom type. Error messages show the name. */
export interface Capability<T> {
  readonly name: string;
  /** Never set; it only carries the type. */
  readonly type?: T;
}

interface Offer {
  readonly owner: string;
  readonly value: unknown;
}

/** The owner of the capabilities that the service itself offers. */
export const SERVICE_OWNER = 'service';

/** One component's view of the capabilities of a service. It records the owners of those it found: its dependencies. */
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

  /** Throws when two components offer the same capability. */
  offer<T>(capability: Capability<T>, value: T): void {
    if (this.#offers.has(capability.name)) throw new Error(`two components offer "${capability.name}"`);
    this.#offers.set(capability.name, { owner: this.#owner, value });
  }

  find<T>(capability: Capability<T>): T | undefined {
    const found = this.#offers.get(capability.name);
    this.#sources.add(found?.owner ?? null);
    return found?.value as T | undefined;
  }

  /** The owners of the capabilities that were found. Contains null when a capability was not found. */
  get sources(): ReadonlySet<string | null> {
    return this.#sources;
  }

  /** For a reload: adds this component's capabilities to the next service, before the component moves to it. */
  lendTo(next: Capabilities): void {
    for (const [name, offer] of this.#offers) if (offer.owner === this.#owner) next.#offers.set(name, offer);
  }

  /** From now on the component finds the capabilities of the next service. */
  follow(next: Capabilities): void {
    this.#offers = next.#offers;
  }
}
