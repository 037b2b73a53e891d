/**
 * Attribute names that carry credentials: copies of HTTP headers and request metadata. The values of these attributes
 * are never stored, whatever the configuration, because a leaked key does more harm than a missing attribute.
 */

/** Header names, lower-case, `_` written as `-`. */
const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'proxy-authorization',
  'www-authenticate',
  'proxy-authenticate',
  'authentication',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'apikey',
  'x-apikey',
  'x-goog-api-key',
  'x-auth-token',
  'x-access-token',
  'x-session-token',
  'x-id-token',
  'x-csrf-token',
  'x-xsrf-token',
  'x-amz-security-token',
  'x-amzn-oidc-data',
  'x-amzn-oidc-accesstoken',
  'x-functions-key',
  'x-gitlab-token',
  'x-github-token',
  'x-vault-token',
  'x-ms-token-aad-access-token',
  'x-forwarded-access-token',
  'x-forwarded-authorization',
  'x-original-authorization',
  'ocp-apim-subscription-key',
  'x-portkey-api-key',
  'x-litellm-api-key',
  'helicone-auth',
]);

/** Header collections: one map, one JSON document, or one attribute per header. */
const HEADER_COLLECTION = /(?:^|[._])(?:llm|gen_ai|ai|http|request|response|default|extra)[._]headers(?:$|[._])/;
/** Parts of a name after which header names follow. */
const HEADER_CONTAINER = /(?:^|[._])(headers?|metadata)[._]/;
/** The ends of header names of many vendors, such as `xi-api-key`. */
const SECRET_HEADER =
  /(?:api[_-]?key|(?:^|[_-])(?:auth[_-]?key|access[_-]?key|(?:secret|private)(?:[_-]key)?|token|passw(?:or)?d))$/;
/** The values of a header that was sent several times, written as many keys; the names of cookies. */
const HEADER_VALUE = /[.[](?:\d+\]?|(?<=cookie\.).+)$/;

/** Whether the value of an attribute of this name is a credential. */
export function isCredentialKey(key: string): boolean {
  const lower = key.toLowerCase().replace(HEADER_VALUE, '');
  if (HEADER_COLLECTION.test(lower)) return true;
  if (isCredentialHeader(lower)) return true;
  const container = HEADER_CONTAINER.exec(lower);
  if (container !== null) {
    const header = lower.slice(container.index + container[0].length);
    if (isCredentialHeader(header)) return true;
    // Other metadata than that of calls has general names.
    if ((container[1] !== 'metadata' || lower.startsWith('rpc.')) && SECRET_HEADER.test(header)) return true;
  }
  const last = lower.slice(lower.lastIndexOf('.') + 1);
  return last !== lower && last !== 'cookie' && isCredentialHeader(last);
}

const isCredentialHeader = (name: string): boolean => CREDENTIAL_HEADERS.has(name.replaceAll('_', '-'));
