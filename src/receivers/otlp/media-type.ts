/** Reads Content-Type and Content-Encoding as the contract defines them. */
import { Rejection } from '../../errors.ts';
import type { Encoding } from '../../pdata/context.ts';

export type ContentEncoding = 'identity' | 'gzip';

/** The limit of a header value in a diagnostic detail. */
const MAX_DETAIL = 100;

/** White space is that of HTTP: `trim` removes other characters too, which a proxy may read as a part of the name. */
const MEDIA_TYPE = /^application\/(x-protobuf|json)[ \t]*(?:;|$)/iu;

/** The body's encoding, or null when the header names neither of the two media types. Parameters are ignored. */
export function encodingOf(contentType = ''): Encoding | null {
  const [, subtype] = MEDIA_TYPE.exec(contentType) ?? [];
  if (subtype === undefined) return null;
  return subtype.toLowerCase() === 'json' ? 'json' : 'protobuf';
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
  const value = (header ?? '').toLowerCase();
  if (value === '' || value === 'identity') return 'identity';
  if (value === 'gzip') return 'gzip';
  throw new Rejection('unsupported_encoding', { received: value.slice(0, MAX_DETAIL) });
}
