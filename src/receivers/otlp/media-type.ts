/** Reads Content-Type and Content-Encoding as the contract defines them. */
import { Rejection } from '../../errors.ts';
import type { Encoding } from '../../pdata/context.ts';

export type ContentEncoding = 'identity' | 'gzip';

/** The limit of a header value in a diagnostic detail. */
const MAX_DETAIL = 100;

/** The body's encoding, or null when the header names neither of the two media types. Parameters are ignored. */
export function encodingOf(contentType: string | undefined): Encoding | null {
  if (contentType === undefined) return null;
  const end = contentType.indexOf(';');
  const mediaType = (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase();
  if (mediaType === 'application/x-protobuf') return 'protobuf';
  if (mediaType === 'application/json') return 'json';
  return null;
}

/** Throws `unsupported_media_type`. */
export function requireEncoding(contentType: string | undefined): Encoding {
  const encoding = encodingOf(contentType);
  if (encoding === null)
    throw new Rejection('unsupported_media_type', { received: (contentType ?? '').slice(0, MAX_DETAIL) });
  return encoding;
}

/**
 * An absent or empty header is identity. A list is refused even when its members are known. Throws
 * `unsupported_encoding`.
 */
export function requireContentEncoding(header: string | undefined): ContentEncoding {
  const value = (header ?? '').trim().toLowerCase();
  if (value === '' || value === 'identity') return 'identity';
  if (value === 'gzip') return 'gzip';
  throw new Rejection('unsupported_encoding', { received: value.slice(0, MAX_DETAIL) });
}
