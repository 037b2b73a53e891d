/** What can be set for TLS, under the Collector's names. */
import { LONGEST_WAIT_MS } from '../../component/longest-wait.ts';

export type TlsVersion = '1.2' | '1.3';

export interface TlsOptions {
  readonly cert_file: string;
  readonly key_file: string;
  readonly client_ca_file?: string;
  readonly min_version: TlsVersion;
  readonly max_version?: TlsVersion;
  readonly cipher_suites: readonly string[];
  /** Milliseconds; 0 stands for never. */
  readonly reload_interval: number;
}

/** The suites of TLS 1.2 that keep past traffic secret, by their registered names, as OpenSSL calls them. */
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
  description: 'Serve TLS only. Left out: no TLS.',
  additionalProperties: false,
  required: ['cert_file', 'key_file'],
  properties: {
    cert_file: {
      type: 'string',
      format: 'path',
      minLength: 1,
      description: 'The certificate and those between it and the root, in PEM.',
    },
    key_file: { type: 'string', format: 'path', minLength: 1, description: 'Its private key, in PEM, not encrypted.' },
    client_ca_file: {
      type: 'string',
      format: 'path',
      minLength: 1,
      description:
        'Certificates, in PEM, of those who may vouch for clients. Once set, a client must show a certificate of theirs.',
    },
    min_version: {
      type: 'string',
      enum: ['1.2', '1.3'],
      default: '1.2',
      description: 'The oldest version of TLS that is spoken.',
    },
    max_version: { type: 'string', enum: ['1.2', '1.3'], description: 'The newest; left out, the newest there is.' },
    cipher_suites: {
      type: 'array',
      maxItems: 6,
      items: {
        type: 'string',
        enum: Object.keys(CIPHER_SUITES),
        description: 'The registered name of a suite.',
      },
      default: [],
      description: 'The suites of TLS 1.2 to use; empty: the usual ones. Those of TLS 1.3 are not for choosing.',
    },
    reload_interval: {
      type: 'integer',
      format: 'duration',
      minimum: 0,
      maximum: LONGEST_WAIT_MS,
      default: '1m',
      description:
        'How often the files are looked at. Changed ones serve new connections, and open connections stay; 0s never.',
    },
  },
} as const;
