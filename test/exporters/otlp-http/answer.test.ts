import fc from 'fast-check';
import t from 'tap';
import { messageOf, partialSuccessOf } from '../../../src/exporters/otlp-http/answer.ts';

const NOTHING = { rejected: 0, message: '' };

t.test('partial success is read from both encodings', async (t) => {
  const protobuf = Buffer.from('0a0b08031207746f6f206f6c64', 'hex');
  t.strictSame(partialSuccessOf('protobuf', protobuf), { rejected: 3, message: 'too old' });
  const json = Buffer.from('{"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too old"}}');
  t.strictSame(partialSuccessOf('json', json), { rejected: 3, message: 'too old' });
  for (const whole of ['', '0a00']) t.strictSame(partialSuccessOf('protobuf', Buffer.from(whole, 'hex')), NOTHING);
  for (const whole of ['', '{}', '{"partialSuccess":{}}', 'null', 'OK']) {
    t.strictSame(partialSuccessOf('json', Buffer.from(whole)), NOTHING, whole);
  }
});

t.test('a varint of more than ten bytes is invalid, however long the answer is', async (t) => {
  const number = `08${'80'.repeat(10)}00`;
  const partial = Buffer.from(number, 'hex');
  const answer = Buffer.concat([Buffer.from([0x0a, partial.length]), partial, Buffer.from('0a04120262', 'hex')]);
  t.strictSame(partialSuccessOf('protobuf', answer), NOTHING);
  t.equal(messageOf('application/x-protobuf', Buffer.from(`${number}1203626164`, 'hex')), '');
});

t.test('the message of a refusal is from its Status, from its JSON, or its text', async (t) => {
  t.equal(messageOf('application/x-protobuf', Buffer.from('1203626164', 'hex')), 'bad');
  t.equal(messageOf('application/json; charset=utf-8', Buffer.from('{"code":3,"message":"bad"}')), 'bad');
  t.equal(messageOf('text/html', Buffer.from('<h1>Bad\r\nGateway</h1>\u001b[2J')), '<h1>Bad Gateway</h1> [2J');
  t.equal(messageOf(undefined, Buffer.from('x'.repeat(5000))).length, 500);
});

t.test('any answer can be read without an exception', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const body = Buffer.from(bytes);
      for (const encoding of ['protobuf', 'json'] as const) {
        const { rejected, message } = partialSuccessOf(encoding, body);
        if (!Number.isSafeInteger(rejected) || rejected < 0 || message.length > 500) return false;
      }
      messageOf('application/x-protobuf', body);
      messageOf('application/json', body);
      return true;
    }),
  );
  t.pass();
});
