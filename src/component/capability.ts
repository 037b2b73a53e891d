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

export class Capabilities {
  readonly #offers = new Map<string, unknown>();

  /** Throws when two components offer the same thing. */
  offer<T>(capability: Capability<T>, value: T): void {
    if (this.#offers.has(capability.name)) throw new Error(`two components offer "${capability.name}"`);
    this.#offers.set(capability.name, value);
  }

  find<T>(capability: Capability<T>): T | undefined {
    return this.#offers.get(capability.name) as T | undefined;
  }
}
