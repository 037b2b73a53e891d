/**
 * One way of counting for all senders: input includes cache reads and writes, output includes reasoning. How a sender
 * counts is decided per record: by the user's rules, then by proof in the attributes, then by arithmetic, then by what
 * is known of the sender.
 */

/** Counts as they were sent; NaN: not sent, or not a count. */
export interface SentUsage {
  input: number;
  output: number;
  total: number;
  cacheRead: number;
  cacheWrite: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  reasoning: number;
  /** What the attributes that were read prove about the cached and about the reasoning tokens. */
  cacheProof: 'inside' | 'outside' | null;
  reasoningProof: 'inside' | 'outside' | null;
}

/** How the sender counts. */
export interface SenderAccounting {
  /** The user's rule, which decides before everything else; null: none. */
  ruled(): 'inside' | 'outside' | null;
  /** Used only when the numbers do not decide. */
  cached(): 'inside' | 'outside';
  reasoningOutside(): boolean;
  /** An operation without output, such as an embedding: its input is its total. */
  writesNothing(): boolean;
}

/** Rewrites the counts in place. What cannot be completed stays as it was sent. */
export function unifyUsage(usage: SentUsage, sender: SenderAccounting): void {
  if (Number.isNaN(usage.cacheWrite)) usage.cacheWrite = sum(usage.cacheWrite5m, usage.cacheWrite1h);
  const cached = known(usage.cacheRead) + known(usage.cacheWrite);
  const input = usage.input;
  if (cached > 0 && !Number.isNaN(input) && cacheIsOutside(usage, cached, sender)) {
    usage.input = safe(input + cached);
  }
  const reasoning = known(usage.reasoning);
  if (reasoning > 0 && !Number.isNaN(usage.output) && reasoningIsOutside(usage, reasoning, sender)) {
    usage.output = safe(usage.output + reasoning);
  }
  const both = safe(usage.input + (sender.writesNothing() ? known(usage.output) : usage.output));
  if (Number.isNaN(usage.total) || usage.total < both) usage.total = both;
}

function cacheIsOutside(usage: SentUsage, cached: number, sender: SenderAccounting): boolean {
  const ruled = sender.ruled();
  if (ruled !== null) return ruled === 'outside';
  if (usage.cacheProof !== null) return usage.cacheProof === 'outside';
  if (usage.input < cached) return true;
  // A total equal to input plus output proves nothing: senders that count the cache apart leave it out of the total
  // too.
  const reasoning = known(usage.reasoning);
  const apart = usage.input + usage.output + cached;
  if (usage.total === apart || (reasoning > 0 && usage.total === apart + reasoning)) return true;
  return sender.cached() === 'outside';
}

function reasoningIsOutside(usage: SentUsage, reasoning: number, sender: SenderAccounting): boolean {
  if (usage.reasoningProof !== null) return usage.reasoningProof === 'outside';
  if (usage.output < reasoning) return true;
  if (!Number.isNaN(usage.total) && !Number.isNaN(usage.input)) {
    if (usage.total === usage.input + usage.output) return false;
    if (usage.total === usage.input + usage.output + reasoning) return true;
  }
  return sender.reasoningOutside();
}

function known(count: number): number {
  return Number.isNaN(count) ? 0 : count;
}

function sum(one: number, other: number): number {
  return Number.isNaN(one) && Number.isNaN(other) ? Number.NaN : safe(known(one) + known(other));
}

function safe(count: number): number {
  return Number.isSafeInteger(count) ? count : Number.NaN;
}
