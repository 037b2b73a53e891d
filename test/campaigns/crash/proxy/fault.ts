/** What can be done to a message, and the rules that choose the message it is done to. */
import type { Side, WireMessage } from './messages.ts';

export type Fault =
  /** Reset both connections: before the message, in the middle of it, or right after it was handed on. */
  | { readonly kind: 'cut'; readonly where: 'before' | 'inside' | 'after' }
  /** End the direction the message travels in, without it; the other direction stays open. */
  | { readonly kind: 'half_close' }
  /** From here on nothing passes in either direction, and nobody is told. */
  | { readonly kind: 'black_hole' }
  /** Hold the message and everything behind it back for a while. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Reset the sender at once, and deliver the message all the same, later. */
  | { readonly kind: 'late'; readonly ms: number }
  /** The message does not arrive; everything after it does. */
  | { readonly kind: 'swallow' }
  /** The statement fails in the server with this SQLSTATE (frontend), or its reply becomes such an error (backend). */
  | { readonly kind: 'error'; readonly sqlstate: string }
  /** Hold the direction back until the promise resolves. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** Something the test does at this moment, before or after the message is handed on. */
  | { readonly kind: 'call'; readonly where: 'before' | 'after'; readonly action: () => void };

export interface Rule {
  readonly side: Side;
  /** This one, or one of these. */
  readonly kind?: string | readonly string[];
  readonly text?: RegExp;
  /** The n-th message that fits, counted from the moment the rule is armed; 1 when left out. */
  readonly nth?: number;
  /** Only on the connection with this number. */
  readonly connection?: number;
  /** Only the message with this number of its side within a transaction; BEGIN and the reply to it are number 0. */
  readonly position?: number;
  readonly fault: Fault;
}

/** The message that makes the server commit, in either form of the protocol, and the server's word that it has. */
export const COMMIT_SENT = { side: 'frontend', kind: ['Query', 'Execute'], text: /^COMMIT$/ } as const;
export const COMMITTED = { side: 'backend', kind: 'CommandComplete', text: /^COMMIT$/ } as const;

export interface Place {
  readonly connection: number;
  /** Number within the transaction and side, or -1 outside of a transaction. */
  readonly position: number;
}

/** One armed rule: fires once. */
export class Shot {
  readonly rule: Rule;
  readonly fired: Promise<WireMessage>;
  #hit: WireMessage | null = null;
  #seen = 0;
  #disarmed = false;
  #announce: (message: WireMessage) => void = () => undefined;

  constructor(rule: Rule) {
    this.rule = rule;
    this.fired = new Promise((resolve) => (this.#announce = resolve));
  }

  /** The message it was fired at. */
  get hit(): WireMessage | null {
    return this.#hit;
  }

  disarm(): void {
    this.#disarmed = true;
  }

  /** The fault, when this is the message it is meant for. */
  aim(message: WireMessage, place: Place): Fault | null {
    if (this.#disarmed || this.#hit !== null || !fits(this.rule, message, place)) return null;
    this.#seen++;
    if (this.#seen < (this.rule.nth ?? 1)) return null;
    this.#hit = message;
    this.#announce(message);
    return this.rule.fault;
  }
}

export function fits(rule: Omit<Rule, 'fault'>, message: WireMessage, place: Place): boolean {
  return (
    rule.side === message.side &&
    (rule.kind === undefined || [rule.kind].flat().includes(message.kind)) &&
    (rule.text === undefined || rule.text.test(message.text)) &&
    (rule.connection === undefined || rule.connection === place.connection) &&
    (rule.position === undefined || rule.position === place.position)
  );
}

/** Says of a fault what happened, for tables: `cut inside`, `error 40001`. */
export function nameOfFault(fault: Fault): string {
  if (fault.kind === 'cut' || fault.kind === 'call') return `${fault.kind} ${fault.where}`;
  if (fault.kind === 'error') return `error ${fault.sqlstate}`;
  if (fault.kind === 'delay' || fault.kind === 'late') return `${fault.kind} ${fault.ms} ms`;
  return fault.kind;
}
