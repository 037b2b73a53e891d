/** Messages of the wire protocol are read from chunks of any size. */
import fc from 'fast-check';
import t from 'tap';
import { errorMessage, MessageReader, nameOfMessage, queryMessage, statementMessages } from './messages.ts';

const STARTUP = Buffer.from('0000000800030000', 'hex');
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex');
const STREAM = Buffer.concat([SSL_REQUEST, STARTUP, queryMessage('BEGIN'), statementMessages('SELECT 1')]);
const NAMES = [
  'frontend SSLRequest',
  'frontend Startup',
  'frontend Query "BEGIN"',
  'frontend Parse "SELECT 1"',
  'frontend Bind "SELECT 1"',
  'frontend Execute "SELECT 1"',
];

t.test('the same messages are read from chunks of any size, and no byte is lost', async () => {
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length)), (cuts) => {
      const reader = new MessageReader('frontend');
      const edges = [0, ...cuts, STREAM.length].sort((a, b) => a - b);
      const messages = edges.flatMap((edge, index) => reader.push(STREAM.subarray(edge, edges[index + 1] ?? edge)));
      const whole = Buffer.concat(messages.map(({ bytes }) => bytes));
      return whole.equals(STREAM) && messages.map(nameOfMessage).join() === NAMES.join();
    }),
  );
});

t.test('the text of an error is its SQLSTATE', async (t) => {
  const [message] = new MessageReader('backend').push(errorMessage('40P01', 'deadlock detected'));
  t.match(message, { kind: 'ErrorResponse', text: '40P01' });
});

t.test('an impossible length is an error', async (t) => {
  t.throws(() => new MessageReader('backend').push(Buffer.from('5affffffff', 'hex')), /framing/);
});
