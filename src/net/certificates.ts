/**
 * Reads and checks the files of TLS when the configuration is read, so that every fault is reported before a client
 * connects.
 */
import { constants as cryptoConstants, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { fileFault } from '../component/file-fault.ts';
import { MAX_TLS_FILE_BYTES, readLimitedFile } from '../component/limited-file.ts';
import { CIPHER_SUITES, type TlsOptions, type TlsVersion } from './tls-options.ts';

/** Options for node:tls. */
export interface TlsMaterial {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3';
  readonly ciphers?: string;
  readonly secureOptions: number;
}

/** The files of a client. Empty: not given. */
export interface ClientTlsFiles {
  readonly ca_file: string;
  readonly cert_file: string;
  readonly key_file: string;
}

/** Options for node:tls. */
export type ClientTlsMaterial = Partial<Pick<TlsMaterial, 'ca' | 'cert' | 'key'>>;

export interface TlsFault {
  readonly option: keyof TlsOptions | 'ca_file';
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint: string | null;
}

export interface Certificates {
  /** Null when a fault is an error. */
  readonly material: TlsMaterial | null;
  readonly faults: readonly TlsFault[];
  /** Unix milliseconds; NaN when there is no certificate. */
  readonly expires: number;
}

type FileOption = 'cert_file' | 'key_file' | 'client_ca_file' | 'ca_file';

/** A list of suites without these switches TLS 1.3 off. */
const TLS13_SUITES = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'];
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/gu;
const VERSIONS = { '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' } as const satisfies Record<TlsVersion, string>;

export interface FileAccess {
  resolvePath(path: string): string;
  now(): number;
}

export function readCertificates(options: TlsOptions, files: FileAccess): Certificates {
  const reader = new CertificateReader(
    options,
    files,
    'Clients refuse it. A new certificate is loaded without a restart.',
  );
  return reader.ofServer(options);
}

export interface ClientCertificates {
  /** Null when a fault is an error. */
  readonly material: ClientTlsMaterial | null;
  readonly faults: readonly TlsFault[];
}

export function readClientCertificates(options: ClientTlsFiles, files: FileAccess): ClientCertificates {
  return new CertificateReader(options, files, 'Servers refuse it.').ofClient();
}

class CertificateReader {
  readonly #paths: Readonly<Partial<Record<FileOption, string>>>;
  readonly #files: FileAccess;
  readonly #expiredHint: string;
  readonly #faults: TlsFault[] = [];

  constructor(paths: Readonly<Partial<Record<FileOption, string>>>, files: FileAccess, expiredHint: string) {
    this.#paths = paths;
    this.#files = files;
    this.#expiredHint = expiredHint;
  }

  ofServer(options: TlsOptions): Certificates {
    const { min_version: least, max_version: most = '1.3' } = options;
    if (least > most) this.#error('max_version', `max_version ${most} is below min_version ${least}`, null);
    const cert = this.#file('cert_file');
    const key = this.#file('key_file');
    const ca = options.client_ca_file === undefined ? undefined : this.#file('client_ca_file');
    const certificate = this.#checkPair(cert, key);
    if (ca !== null && ca !== undefined) this.#certificates('client_ca_file', ca);
    const material = cert === null || key === null || ca === null ? null : this.#material(options, cert, key, ca);
    return {
      material: this.#failed ? null : material,
      faults: this.#faults,
      expires: certificate === undefined ? Number.NaN : Date.parse(certificate.validTo),
    };
  }

  ofClient(): ClientCertificates {
    const given = (option: FileOption): Buffer | undefined =>
      this.#paths[option] === '' ? undefined : (this.#file(option) ?? undefined);
    const [ca, cert, key] = [given('ca_file'), given('cert_file'), given('key_file')];
    if (ca !== undefined) this.#certificates('ca_file', ca);
    const { cert_file: certPath, key_file: keyPath } = this.#paths;
    if ((certPath === '') !== (keyPath === ''))
      this.#error(
        certPath === '' ? 'key_file' : 'cert_file',
        'cert_file and key_file must be given together',
        'A client certificate has a key.',
      );
    this.#checkPair(cert ?? null, key ?? null);
    const material = {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
    return { material: this.#failed ? null : material, faults: this.#faults };
  }

  get #failed(): boolean {
    return this.#faults.some(({ severity }) => severity === 'error');
  }

  #checkPair(cert: Buffer | null, key: Buffer | null): X509Certificate | undefined {
    const [certificate] = cert === null ? [] : this.#certificates('cert_file', cert);
    const privateKey = key === null ? null : this.#privateKey(key);
    if (certificate !== undefined && privateKey !== null) this.#match(certificate, privateKey);
    if (certificate !== undefined) this.#checkDates(certificate);
    return certificate;
  }

  #material(options: TlsOptions, cert: Buffer, key: Buffer, ca: Buffer | undefined): TlsMaterial | null {
    const { min_version: least, max_version: most, cipher_suites: suites } = options;
    const material = {
      cert,
      key,
      ...(ca === undefined ? {} : { ca }),
      minVersion: VERSIONS[least],
      // A second handshake in a connection costs the server another signature, and no client needs it.
      secureOptions: cryptoConstants.SSL_OP_NO_RENEGOTIATION,
      ...(most === undefined ? {} : { maxVersion: VERSIONS[most] }),
      ...(suites.length === 0
        ? {}
        : { ciphers: [...TLS13_SUITES, ...suites.map((suite) => CIPHER_SUITES[suite])].join(':') }),
    };
    if (this.#failed) return null;
    try {
      createSecureContext(material);
      return material;
    } catch (error) {
      this.#error('cert_file', `cert_file and key_file cannot be used: ${(error as Error).message}`, null);
      return null;
    }
  }

  #file(option: FileOption): Buffer | null {
    const path = this.#files.resolvePath(this.#paths[option] ?? '');
    try {
      return readLimitedFile(path, { maxBytes: MAX_TLS_FILE_BYTES });
    } catch (error) {
      const hint =
        'A relative path starts at the working directory. The user of the daemon must be able to read the file.';
      this.#error(option, `${option} ${path} cannot be read: ${fileFault(error)}`, hint);
      return null;
    }
  }

  #certificates(option: FileOption, content: Buffer): readonly X509Certificate[] {
    const found = content.toString('latin1').match(PEM_CERTIFICATE) ?? [];
    try {
      if (found.length > 0) return found.map((text) => new X509Certificate(text));
    } catch {
      // Reported below.
    }
    const hint = 'It must begin with -----BEGIN CERTIFICATE-----.';
    this.#error(option, `${option} ${this.#paths[option] ?? ''} holds no certificate in PEM`, hint);
    return [];
  }

  #privateKey(content: Buffer): KeyObject | null {
    const { key_file: path } = this.#paths;
    const text = content.toString('latin1');
    if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/mu.test(text)) {
      this.#error('key_file', `key_file ${path} is encrypted`, 'Decrypt it: openssl pkey -in FILE -out NEW_FILE.');
      return null;
    }
    try {
      return createPrivateKey(content);
    } catch {
      const hint = 'It must begin with -----BEGIN PRIVATE KEY-----, BEGIN EC PRIVATE KEY or BEGIN RSA PRIVATE KEY.';
      this.#error('key_file', `key_file ${path} holds no private key in PEM`, hint);
      return null;
    }
  }

  #match(certificate: X509Certificate, key: KeyObject): void {
    if (certificate.checkPrivateKey(key)) return;
    const hint = 'The certificate itself must be the first in cert_file, before the intermediate certificates.';
    this.#error('key_file', 'the key of key_file does not belong to the certificate of cert_file', hint);
  }

  #checkDates({ validFrom, validTo }: X509Certificate): void {
    const now = this.#files.now();
    if (Date.parse(validTo) < now) this.#warn(`the certificate of cert_file expired on ${validTo}`);
    if (Date.parse(validFrom) > now) this.#warn(`the certificate of cert_file is not valid before ${validFrom}`);
  }

  #error(option: TlsFault['option'], message: string, hint: string | null): void {
    this.#faults.push({ option, severity: 'error', message, hint });
  }

  #warn(message: string): void {
    this.#faults.push({ option: 'cert_file', severity: 'warning', message, hint: this.#expiredHint });
  }
}
