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
const HEADER_CONTAINER = /(?:^|[._])(?:headers?|metadata)[._]/;

/** Whether the value of an attribute of this name is a credential. */
export function isCredentialKey(key: string): boolean {
  const lower = key.toLowerCase();
  if (HEADER_COLLECTION.test(lower)) return true;
  if (isCredentialHeader(lower)) return true;
  const container = HEADER_CONTAINER.exec(lower);
  if (container !== null && isCredentialHeader(lower.slice(container.index + container[0].length))) return true;
  const last = lower.slice(lower.lastIndexOf('.') + 1);
  return last !== lower && last !== 'cookie' && isCredentialHeader(last);
}

const isCredentialHeader = (name: string): boolean => CREDENTIAL_HEADERS.has(name.replaceAll('_', '-'));
