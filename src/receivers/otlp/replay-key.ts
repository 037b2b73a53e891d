/** What makes two requests the same: the signal, how its body was encoded, and the bytes as they came. */
import { hash } from 'node:crypto';
import type { Encoding, Signal } from '../../model/context.ts';
import type { ContentEncoding } from './media-type.ts';

const SIGNAL_TAGS: Readonly<Record<Signal, number>> = { traces: 0, logs: 1, metrics: 2 };

/** 33 bytes: which signal, media type and content encoding, then the SHA-256 of the bytes as they came. */
export function replayKey(
  signal: Signal,
  { encoding, contentEncoding }: { readonly encoding: Encoding; readonly contentEncoding: ContentEncoding },
  raw: Buffer,
): Uint8Array {
  const tag = SIGNAL_TAGS[signal] * 4 + (encoding === 'json' ? 2 : 0) + (contentEncoding === 'gzip' ? 1 : 0);
  return Buffer.concat([Buffer.from([tag]), hash('sha256', raw, 'buffer')]);
}
