/** Bodies made to be slow: each is accepted or refused by the catalogue, and none takes too long. */
import t from 'tap';
import { HOSTILE_BODIES } from '../support/hostile-bodies.ts';
import { isLong } from '../support/long.ts';
import { MeasuredPass } from '../support/measured-pass.ts';
import { isPrompt } from '../support/promptness.ts';

t.setTimeout(300_000);

/** A long run has bodies of the largest size that is common. */
const SIZE = isLong ? 65_536 : 16_384;
/** Ten times the time of the slowest body. Quadratic time would be far more. */
const LIMIT_MS = 500;

t.test('no body causes a fault or takes too long', async (t) => {
  const pass = await MeasuredPass.open();
  for (const body of HOSTILE_BODIES) {
    const bytes = body.make(SIZE);
    let outcome = '';
    const isFast = await isPrompt(LIMIT_MS * Math.max(1, bytes.length / SIZE), () => {
      ({ outcome } = pass.run(body, bytes));
    });
    if (!isFast) t.fail(`${body.name} takes long`);
    if (outcome.startsWith('FAULT')) t.fail(`${body.name}: ${outcome}`);
  }
  t.pass();
});
