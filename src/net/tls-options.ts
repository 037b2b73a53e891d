/** The options of TLS, with the Collector's names. */
import { timerOption } from '../component/longest-wait.ts';

export type TlsVersion = '1.2' | '1.3';

export interface TlsOptions {
  readonly cert_file: string;
  readonly key_file: string;
  readonly client_ca_file?: string;
  readonly min_version: TlsVersion;
  readonly max_version?: TlsVersion;
  readonly cipher_suites: readonly string[];
  /** Milliseconds; 0: never. */
  readonly reload_interval: number;
}

/** The suites of TLS 1.2 with forward secrecy: registered name to OpenSSL name. */
export const CIPHER_SUITES: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
};

export const TLS_SCHEMA = {
  type: 'object',
  description: 'Serve TLS only. Without it: no TLS.',
  additionalProperties: false,
  required: ['cert_file', 'key_file'],
  properties: {
    cert_file: {
      type: 'string',
      format: 'path',
      minLength: 1,
      description: 'Path of the certificate, followed by intermediate certificates, in PEM.',
    },
    key_file: {
      type: 'string',
      format: 'path',
      minLength: 1,
      description: 'Path of the private key, in PEM, not encrypted.',
    },
    client_ca_file: {
      type: 'string',
      format: 'path',
      minLength: 1,
      description:
        'Path of the CA certificates, in PEM, that verify client certificates. When set, a client must send a certificate.',
    },
    min_version: {
      type: 'string',
      enum: ['1.2', '1.3'],
      default: '1.2',
      description: 'The lowest accepted TLS version.',
    },
    max_version: {
      type: 'string',
      enum: ['1.2', '1.3'],
      description: 'The highest accepted TLS version. Without it: the highest supported.',
    },
    cipher_suites: {
      type: 'array',
      maxItems: 6,
      items: {
        type: 'string',
        enum: Object.keys(CIPHER_SUITES),
        description: 'The registered name of a cipher suite.',
      },
      default: [],
      description: 'Cipher suites of TLS 1.2; empty: the defaults. Those of TLS 1.3 cannot be configured.',
    },
    reload_interval: timerOption(
      0,
      '1m',
      'How often the files are checked for changes; 0s: never. New connections use changed files, open connections stay.',
    ),
  },
} as const;
