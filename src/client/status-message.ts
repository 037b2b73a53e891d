/** Reads the message of a refusal: a `google.rpc.Status` in protobuf, as the contract defines it. */

/** Field 2, `message`, of wire type 2 (length-delimited). */
const MESSAGE_TAG = 0x12;
const MAX_VARINT_BYTES = 5;

/** Empty when the body is something else, for example the page of a proxy. */
export function statusMessage(body: Buffer): string {
  // `code` is never set, so the message comes first.
  if (body[0] !== MESSAGE_TAG) return '';
  let length = 0;
  for (let index = 1; index <= MAX_VARINT_BYTES; index += 1) {
    const byte = body[index];
    if (byte === undefined) return '';
    length += (byte & 0x7f) * 2 ** (7 * (index - 1));
    if (byte < 0x80) return body.subarray(index + 1, index + 1 + length).toString('utf8');
  }
  return '';
}
