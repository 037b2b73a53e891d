/** The faults that the proxy injects, and the rules that choose the message. */
import type { Side, WireMessage } from './messages.ts';

export type Fault =
  /** Reset both connections: before the message, in the middle of it, or right after it was forwarded. */
  | { readonly kind: 'cut'; readonly where: 'before' | 'inside' | 'after' }
  /** End the direction the message travels in, without it; the other direction stays open. */
  | { readonly kind: 'half_close' }
  /** From here on all data is dropped in both directions, and the connections stay open. */
  | { readonly kind: 'black_hole' }
  /** Hold the message and everything after it for a time. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Reset the sender at once, and forward the message later. */
  | { readonly kind: 'late'; readonly ms: number }
  /** Drop the message, and forward everything after it. */
  | { readonly kind: 'swallow' }
  /** The statement fails in the server with this SQLSTATE (frontend), or its reply becomes such an error (backend). */
  | { readonly kind: 'error'; readonly sqlstate: string }
  /** Hold the direction until the promise resolves. */
  | { readonly kind: 'hold'; readonly until: Promise<void> }
  /** Call the test, before or after the message is forwarded. */
  | { readonly kind: 'call'; readonly where: 'before' | 'after'; readonly action: () => void };

export interface Rule {
  readonly side: Side;
  /** One kind, or any of several. */
  readonly kind?: string | readonly string[];
  readonly text?: RegExp;
  /** The n-th message that matches since the rule was armed; 1 unless set. */
  readonly nth?: number;
  /** Only on the connection with this number. */
  readonly connection?: number;
  /** Only the message with this number of its side within a transaction; BEGIN and the reply to it are number 0. */
  readonly position?: number;
  readonly fault: Fault;
}

/** The message that makes the server commit, in either form of the protocol, and the reply that confirms it. */
export const COMMIT_SENT = { side: 'frontend', kind: ['Query', 'Execute'], text: /^COMMIT$/ } as const;
export const COMMITTED = { side: 'backend', kind: 'CommandComplete', text: /^COMMIT$/ } as const;

export interface MessageContext {
  readonly connection: number;
  /** Number within the transaction and side, or -1 outside of a transaction. */
  readonly position: number;
}

/** A rule that waits for its message. It matches once. */
export class ArmedFault {
  readonly rule: Rule;
  readonly fired: Promise<WireMessage>;
  #hit: WireMessage | null = null;
  #seen = 0;
  #isDisarmed = false;
  #announce: (message: WireMessage) => void = () => undefined;

  constructor(rule: Rule) {
    this.rule = rule;
    this.fired = new Promise((resolve) => (this.#announce = resolve));
  }

  /** The message at which the fault was injected; null before. */
  get hit(): WireMessage | null {
    return this.#hit;
  }

  disarm(): void {
    this.#isDisarmed = true;
  }

  /** The fault, when the rule matches this message. */
  match(message: WireMessage, context: MessageContext): Fault | null {
    if (this.#isDisarmed || this.#hit !== null || !fits(this.rule, message, context)) return null;
    this.#seen++;
    if (this.#seen < (this.rule.nth ?? 1)) return null;
    this.#hit = message;
    this.#announce(message);
    return this.rule.fault;
  }
}

export function fits(rule: Omit<Rule, 'fault'>, message: WireMessage, context: MessageContext): boolean {
  return (
    rule.side === message.side &&
    (rule.kind === undefined || [rule.kind].flat().includes(message.kind)) &&
    (rule.text === undefined || rule.text.test(message.text)) &&
    (rule.connection === undefined || rule.connection === context.connection) &&
    (rule.position === undefined || rule.position === context.position)
  );
}

/** The name of a fault in tables: `cut inside`, `error 40001`. */
export function nameOfFault(fault: Fault): string {
  if (fault.kind === 'cut' || fault.kind === 'call') return `${fault.kind} ${fault.where}`;
  if (fault.kind === 'error') return `error ${fault.sqlstate}`;
  if (fault.kind === 'delay' || fault.kind === 'late') return `${fault.kind} ${fault.ms} ms`;
  return fault.kind;
}
